// Values as text for people: what console shows, in the notation that developers know from Node. Nothing of the program runs: getters are
// named, not called, and of a proxy its target is shown. Bounded in depth, members and size, and it never throws.
import {
    apply, BooleanFn, booleanValue, BufferFn, bufferBytes, BytesFn, cut, DateFn, find, functionText, getOwnPropertyDescriptor, getPrototypeOf,
    getTime, global, has, isArray, isError, isObject, isView, keys, mapForEach, MapFn, mapSize, NumberFn, numberValue, ObjectPrototype,
    once, own, ownData, propertySymbols, PromiseFn, regexpText, RegExpFn, setForEach, SetFn, setSize, StringFn, stringValue,
    symbolText, tagSymbol, text, toISOString, typedLength, typedTag, viewBuffer, viewBytes, viewOffset,
} from './primordials.js';
import { isNamespace } from './namespaces.js';
import { places } from './position.js';
import { BREAK, digits, keyText, quoted, short, spaces } from './quote.js';
import { OP_TARGET } from './state.js';

const MAX_CHARS = 16000;   // of one value
const MAX_TEXT = 10000;    // of an error's message
const MAX_DEPTH = 8;
const MAX_ITEMS = 100;     // of an array, Map, Set, buffer
const MAX_MEMBERS = 200;   // of an object
const MAX_CHAIN = 50;      // prototypes that are looked at
const FILL = 76;

// How objects of classes that are not the language's own are shown: each test gives undefined or {name, value}.
const shapes = { __proto__: null, n: 0 };
export const tellShape = test => {
    shapes[shapes.n++] = test;
};

export const formatter = once(() => {
    // Lists of ours have no prototype: an array could meet a setter on Array.prototype.
    const list = () => ({ __proto__: null, n: 0 });
    const add = (parts, part) => {
        parts[parts.n++] = part;
    };

    // What a getter or method of one class says about an object of that class, undefined for every other.
    const brand = (getter, v) => {
        try {
            return apply(getter, v, []);
        } catch {
            return undefined;
        }
    };

    // What stands behind a proxy: undefined where there is none, null behind a revoked one. The engine's own test for arrays looks through
    // proxies, calls no trap, and throws at a revoked one.
    function targetOf(v) {
        if (v === global)
            return undefined;
        try {
            isArray(v);
        } catch {
            return null;
        }
        return send(OP_TARGET, v);
    }

    // The object itself, or what stands behind all proxies before it; null where one was revoked.
    function behind(v) {
        let at = v;
        for (let n = 0, target; (target = targetOf(at)) !== undefined; at = target) {
            if (target === null || n === MAX_CHAIN)
                return null;
            n++;
        }
        return at;
    }

    // A data property of the object or its prototypes; no getter and no trap runs.
    function lookup(v, key) {
        let at = v;
        for (let n = 0; at !== null && n < MAX_CHAIN; n++) {
            const d = getOwnPropertyDescriptor(at, key);
            if (d !== undefined)
                return own(d, 'value');
            at = getPrototypeOf(at);
            if (at !== null && targetOf(at) !== undefined)
                return undefined;
        }
        return undefined;
    }

    function nameOf(fn) {
        const name = typeof fn === 'function' ? ownData(fn, 'name') : undefined;
        return typeof name === 'string' ? short(name) : '';
    }

    // The class of an object by the nearest constructor that has a name; null without any prototype, '' without such a constructor.
    function className(v) {
        let p = getPrototypeOf(v);
        if (p === null)
            return null;
        for (let n = 0; p !== null && n < MAX_CHAIN && targetOf(p) === undefined; n++) {
            const name = nameOf(ownData(p, 'constructor'));
            if (name !== '')
                return name;
            p = getPrototypeOf(p);
        }
        return '';
    }

    // What it calls itself besides. An enumerable tag is shown among the members.
    function tagOf(v) {
        const d = getOwnPropertyDescriptor(v, tagSymbol), tag = d !== undefined && d.enumerable ? '' : lookup(v, tagSymbol);
        return typeof tag === 'string' ? short(tag) : '';
    }

    // Which of the language's own classes it is of. Walking the prototypes is cheaper than asking each class's getter, which throws.
    function kindOf(v) {
        let p = getPrototypeOf(v);
        for (let n = 0; p !== null && p !== ObjectPrototype && n < MAX_CHAIN; n++) {
            switch (p) {
            case DateFn.prototype: return 'date';
            case MapFn.prototype: return 'map';
            case SetFn.prototype: return 'set';
            case RegExpFn.prototype: return 'regexp';
            case PromiseFn.prototype: return 'promise';
            case BufferFn.prototype: return 'buffer';
            case NumberFn.prototype: case StringFn.prototype: case BooleanFn.prototype: return 'boxed';
            }
            if (targetOf(p) !== undefined)
                return '';
            p = getPrototypeOf(p);
        }
        return '';
    }

    function primitive(v, indent) {
        switch (typeof v) {
        case 'string':
            return quoted(v, indent);
        case 'bigint':
            return v + 'n';
        case 'symbol':
            return apply(symbolText, v, []);
        default:
            return v === 0 && 1 / v < 0 ? '-0' : '' + v;
        }
    }

    /* ---- members ---- */

    function descriptorText(st, v, key, indent, here) {
        const d = getOwnPropertyDescriptor(v, key);
        if (d === undefined)
            return 'undefined';
        if (has(d, 'value'))
            return show(st, d.value, indent + 2, here);
        return own(d, 'get') === undefined ? '[Setter]' : own(d, 'set') === undefined ? '[Getter]' : '[Getter/Setter]';
    }

    function member(st, parts, v, key, label, indent, here) {
        const name = label || keyText(key);
        st.size += name.length + 2;
        add(parts, name + ': ' + descriptorText(st, v, key, indent, here));
    }

    const isFull = st => st.size > MAX_CHARS;
    const more = (n, what) => `... ${n} more ${what}${n > 1 ? 's' : ''}`;

    // Its own enumerable members, those by symbols last. Of an array only what is no index.
    function members(st, parts, v, indent, here, skip) {
        const names = keys(v);
        let shown = 0;
        for (let i = 0; i < names.length; i++) {
            if (skip !== null && skip(names[i]))
                continue;
            if (shown++ === MAX_MEMBERS || isFull(st))
                return add(parts, more(names.length - i, 'member'));
            member(st, parts, v, names[i], '', indent, here);
        }
        const symbols = propertySymbols(v);
        for (let i = 0; i < symbols.length && i < MAX_MEMBERS; i++) {
            const d = getOwnPropertyDescriptor(v, symbols[i]);
            if (d !== undefined && d.enumerable)
                member(st, parts, v, symbols[i], '', indent, here);
        }
    }

    // The next index from `at` on that there is. Behind a wide gap it is looked for among the keys.
    function nextIndex(v, at, length) {
        let i = at;
        for (; i < length && !has(v, i); i++) {
            if (i - at < 1000)
                continue;
            const names = keys(v);
            for (let k = 0; k < names.length; k++) {
                if (+names[k] >= i)
                    return +names[k];
            }
            return length;
        }
        return i;
    }

    const isIndex = name => name === '' + (name >>> 0);

    function elements(st, parts, v, indent, here) {
        const length = ownData(v, 'length');
        for (let i = 0; i < length; ) {
            if (parts.n >= MAX_ITEMS || isFull(st)) {
                add(parts, more(length - i, 'item'));
                break;
            }
            const next = nextIndex(v, i, length);
            if (next > i) {
                add(parts, `<${next - i} empty item${next - i > 1 ? 's' : ''}>`);
                i = next;
                continue;
            }
            add(parts, descriptorText(st, v, i++, indent, here));
        }
        // Listing the names of a long array takes longer than it is worth.
        if (length <= 10000)
            members(st, parts, v, indent, here, isIndex);
    }

    function numbers(st, parts, v, n) {
        for (let i = 0; i < n; i++) {
            if (i === MAX_ITEMS || isFull(st))
                return add(parts, more(n - i, 'item'));
            const one = primitive(v[i], 0);
            st.size += one.length + 2;
            add(parts, one);
        }
    }

    // Entries of a Map or Set; its own forEach cannot be stopped, but it can be told to do nothing more.
    function entries(st, parts, forEach, v, size, entry) {
        let i = 0;
        apply(forEach, v, [(value, key) => {
            if (i < MAX_ITEMS && !isFull(st)) {
                i++;
                add(parts, entry(value, key));
            }
        }]);
        if (i < size)
            add(parts, more(size - i, 'item'));
    }

    /* ---- classes of the language ---- */

    // "Name(size) ", and in brackets which of the language's classes (`type`) it extends.
    const prefix = (name, type, size) => {
        const n = size === undefined ? '' : `(${size})`;
        if (name === null)
            return `[${type}${n}: null prototype] `;
        return (name || type) + n + (name && name !== type && type !== 'Object' && type !== 'Array' ? ` [${type}] ` : ' ');
    };

    const isBuiltinError = name => name === 'Error' || name === 'TypeError' || name === 'RangeError' || name === 'SyntaxError'
        || name === 'ReferenceError' || name === 'EvalError' || name === 'URIError' || name === 'AggregateError';

    // Of an error with a getter for it (DOMException and its like) the getter is asked, unless it is the object's own.
    function errorPart(v, key) {
        const value = lookup(v, key);
        const said = value !== undefined || has(v, key) ? value : v[key];
        return typeof said === 'string' ? said : isObject(said) || said === undefined || typeof said === 'function' ? '' : text(said);
    }

    function errorHeader(v) {
        const name = errorPart(v, 'name') || 'Error', type = className(v) || '', message = errorPart(v, 'message');
        let said = name;
        if (type !== '' && type !== name && isBuiltinError(name) && !isBuiltinError(type))
            said = find(type, name, 0) >= 0 ? type : `${type} [${name}]`;
        return short(said) + (message ? ': ' + (message.length > MAX_TEXT ? cut(message, 0, MAX_TEXT) + '…' : message) : '');
    }

    function indented(s, indent) {
        let out = '', at = 0;
        for (let next = find(s, '\n', 0); next >= 0; next = find(s, '\n', at)) {
            out += cut(s, at, next + 1) + spaces(indent);
            at = next + 1;
        }
        return out + cut(s, at);
    }

    const isErrorPart = name => name === 'name' || name === 'message' || name === 'stack';

    function error(st, sh, v, indent, here) {
        const place = places().placeOf(v), header = errorHeader(v);
        let stack = place === null ? '' : place.stack;
        // Inside of other values one line says enough.
        if (here.up !== null && !isError(here.up.value) && find(stack, '\n', 0) >= 0)
            stack = cut(stack, 0, find(stack, '\n', 0));
        sh.base = stack !== '' ? indented(header + '\n' + '    ' + indented(stack, 4), indent)
            : here.up === null ? header : '[' + indented(header, indent) + ']';
        st.size += sh.base.length;
        sh.bare = true;
        members(st, sh.parts, v, indent, here, isErrorPart);
        const hidden = key => {
            const d = getOwnPropertyDescriptor(v, key);
            if (d !== undefined && !d.enumerable)
                member(st, sh.parts, v, key, `[${key}]`, indent, here);
        };
        hidden('cause');
        hidden('errors');
    }

    // The part of the text of a class that names it and its parent.
    function functionBase(v) {
        const name = nameOf(v), source = cut(apply(functionText, v, []), 0, 6);
        if (source === 'class ' || source === 'class{') {
            const parent = getPrototypeOf(v), up = parent === null ? 'null' : nameOf(parent);
            return `[class ${name || '(anonymous)'}${up ? ' extends ' + up : ''}]`;
        }
        const kind = tagOf(v) || 'Function';
        return `[${kind}${getPrototypeOf(v) === null ? ' (null prototype)' : ''}${name ? ': ' + name : ' (anonymous)'}]`;
    }

    function bufferParts(st, sh, v) {
        const size = apply(bufferBytes, v, []), bytes = new BytesFn(v);
        let out = '';
        for (let i = 0; i < size && i < MAX_ITEMS; i++)
            out += (i ? ' ' : '') + digits[bytes[i] >> 4] + digits[bytes[i] & 15];
        if (size > MAX_ITEMS)
            out += ' ' + more(size - MAX_ITEMS, 'byte');
        add(sh.parts, `[Uint8Contents]: <${out}>`);
        add(sh.parts, 'byteLength: ' + size);
        st.size += out.length + 30;
    }

    function boxed(v) {
        let value = brand(numberValue, v), kind = 'Number';
        if (value === undefined) {
            value = brand(stringValue, v);
            kind = 'String';
        }
        if (value === undefined) {
            value = brand(booleanValue, v);
            kind = 'Boolean';
        }
        return value === undefined ? undefined : `[${kind}: ${primitive(value, 0)}]`;
    }

    // Fills `sh` for an object of one of the language's classes; false: it is of none.
    function special(st, sh, v, name, indent, here) {
        if (isError(v)) {
            error(st, sh, v, indent, here);
            return true;
        }
        if (isView(v)) {
            const n = brand(typedLength, v);
            if (n !== undefined) {
                sh.open = prefix(name, brand(typedTag, v), n) + '[';
                sh.close = ']';
                sh.isList = true;
                numbers(st, sh.parts, v, n);
            } else {
                sh.open = prefix(name, 'DataView') + '{';
                add(sh.parts, 'byteLength: ' + apply(viewBytes, v, []));
                add(sh.parts, 'byteOffset: ' + apply(viewOffset, v, []));
                add(sh.parts, 'buffer: ' + show(st, apply(viewBuffer, v, []), indent + 2, here));
            }
            members(st, sh.parts, v, indent, here, isIndex);
            return true;
        }
        switch (kindOf(v)) {
        case 'date': {
            const time = brand(getTime, v);
            sh.base = time === undefined ? '' : time === time ? apply(toISOString, v, []) : 'Invalid Date';
            break;
        }
        case 'regexp':
            sh.base = text(brand(regexpText, v));
            break;
        case 'boxed':
            sh.base = boxed(v) || '';
            break;
        case 'map': {
            const n = brand(mapSize, v);
            if (n === undefined)
                return false;
            sh.open = prefix(name, 'Map', n) + '{';
            entries(st, sh.parts, mapForEach, v, n, (value, key) => show(st, key, indent + 2, here) + ' => ' + show(st, value, indent + 2, here));
            break;
        }
        case 'set': {
            const n = brand(setSize, v);
            if (n === undefined)
                return false;
            sh.open = prefix(name, 'Set', n) + '{';
            entries(st, sh.parts, setForEach, v, n, value => show(st, value, indent + 2, here));
            break;
        }
        case 'promise':
            sh.open = prefix(name, 'Promise') + '{';
            add(sh.parts, '<await it for its value>');
            break;
        case 'buffer':
            if (brand(bufferBytes, v) === undefined)
                return false;
            sh.open = prefix(name, 'ArrayBuffer') + '{';
            bufferParts(st, sh, v);
            break;
        default:
            return false;
        }
        if (sh.base !== '') {
            st.size += sh.base.length;
            sh.bare = true;
        } else if (sh.open === '{') {
            return false;
        }
        members(st, sh.parts, v, indent, here, typeof v === 'object' && kindOf(v) === 'boxed' ? isIndex : null);
        return true;
    }

    /* ---- objects ---- */

    // One that another part of the prelude knows, or undefined.
    function known(v) {
        if (isNamespace(v))
            return { __proto__: null, name: 'Connector', value: undefined };
        for (let i = 0; i < shapes.n; i++) {
            const shape = shapes[i](v);
            if (shape !== undefined)
                return shape;
        }
        return undefined;
    }

    function fill(st, sh, v, name, indent, here) {
        const { parts } = sh;
        if (typeof v === 'function') {
            sh.base = functionBase(v);
            sh.bare = true;
            st.size += sh.base.length;
            members(st, parts, v, indent, here, null);
            return;
        }
        if (isArray(v)) {
            sh.open = name === 'Array' ? '[' : prefix(name, 'Array', ownData(v, 'length')) + '[';
            sh.close = ']';
            sh.isList = true;
            elements(st, parts, v, indent, here);
            return;
        }
        const proto = getPrototypeOf(v);
        if (proto !== ObjectPrototype && special(st, sh, v, name, indent, here))
            return;
        const tag = tagOf(v);
        if (name !== 'Object' || tag !== '')
            sh.open = prefix(name, 'Object') + (tag !== '' && tag !== name ? `[${tag}] ` : '') + '{';
        if (name === 'WeakMap' || name === 'WeakSet')
            add(parts, '<items unknown>');
        members(st, parts, v, indent, here, null);
    }

    // Several parts on one line where they fit: objects up to three levels high, and short parts of a list beside each other.
    function join(st, sh, depth, indent) {
        const { parts, base, open, close } = sh, lead = base ? base + ' ' : '';
        let total = parts.n * 2 + indent + open.length + base.length + 10, longest = 0, broken = find(base, '\n', 0) >= 0;
        for (let i = 0; i < parts.n; i++) {
            total += parts[i].length;
            if (parts[i].length > longest)
                longest = parts[i].length;
            if (find(parts[i], '\n', 0) >= 0)
                broken = true;
        }
        const inner = '\n' + spaces(indent + 2);
        let line = '', out = '';
        if (!broken && total <= BREAK && st.current - depth < 3) {
            for (let i = 0; i < parts.n; i++)
                line += (i ? ', ' : '') + parts[i];
            return lead + open + ' ' + line + ' ' + close;
        }
        const fills = sh.isList && !broken && parts.n > 6 && longest <= 24;
        for (let i = 0; i < parts.n; i++) {
            const part = parts[i] + (i + 1 < parts.n ? ',' : '');
            if (fills && line !== '' && indent + 2 + line.length + 1 + part.length <= FILL) {
                line += ' ' + part;
                continue;
            }
            if (line !== '')
                out += inner + line;
            line = part;
        }
        return lead + open + out + inner + line + '\n' + spaces(indent) + close;
    }

    function summary(v, name) {
        if (isArray(v))
            return name === null || name === 'Array' ? '[Array]' : `[${name}]`;
        return name === null ? '[Object: null prototype]' : `[${name || 'Object'}]`;
    }

    // Which object a cycle leads back to, by number.
    function reference(st, v) {
        for (let i = 0; i < st.cycles.n; i++) {
            if (st.cycles[i] === v)
                return i + 1;
        }
        return 0;
    }

    function object(st, value, indent, up) {
        let v = value, depth = 0;
        for (let p = up; p !== null; p = p.up, depth++) {
            if (p.value !== value)
                continue;
            if (reference(st, value) === 0)
                add(st.cycles, value);
            return `[Circular *${reference(st, value)}]`;
        }
        const shape = known(v);
        if (shape !== undefined && shape.value !== undefined)
            return shape.name + ' ' + show(st, shape.value, indent, { __proto__: null, up, value });
        if (shape === undefined && (v = behind(value)) === null)
            return '<Revoked Proxy>';
        const here = { __proto__: null, up, value }, sh = { __proto__: null, base: '', open: '{', close: '}', bare: false, isList: false, parts: list() };
        const name = shape === undefined ? className(v) : shape.name;
        if (depth > st.depth)
            return typeof v === 'function' ? functionBase(v) : summary(v, name);
        const before = st.current;
        st.current = depth;
        st.size += 2;
        if (shape === undefined) {
            fill(st, sh, v, name, indent, here);
        } else {
            sh.open = name + ' {';
            members(st, sh.parts, v, indent, here, null);
        }
        const ref = reference(st, value), lead = ref ? `<ref *${ref}> ` : '';
        if (sh.parts.n === 0) {
            st.current = before; // what is empty is not one level more
            return lead + (sh.bare ? sh.base : sh.open + sh.close);
        }
        sh.base = ref ? `<ref *${ref}>` + (sh.base ? ' ' + sh.base : '') : sh.base;
        return join(st, sh, depth, indent);
    }

    // What was thrown may throw in its turn.
    function reason(e) {
        try {
            return isError(e) ? errorPart(e, 'message') : 'it threw';
        } catch {
            return 'it threw';
        }
    }

    function show(st, v, indent, up) {
        if (isObject(v) || typeof v === 'function') {
            try {
                return object(st, v, indent, up);
            } catch (e) {
                return '[cannot be shown: ' + reason(e) + ']';
            }
        }
        const out = primitive(v, indent);
        st.size += out.length;
        return out;
    }

    // Any value as it is written in a program, as far as it can be.
    function inspect(value, depth) {
        const st = { __proto__: null, size: 0, depth: depth === undefined ? MAX_DEPTH : depth, current: 0, cycles: list() };
        const out = show(st, value, 0, null);
        return out.length > MAX_CHARS * 2 ? cut(out, 0, MAX_CHARS * 2) + `… ${out.length - MAX_CHARS * 2} more characters` : out;
    }

    // The same, but a text is shown as it is.
    function format(value) {
        if (typeof value !== 'string')
            return inspect(value);
        return value.length > MAX_CHARS ? cut(value, 0, MAX_CHARS) + `… ${value.length - MAX_CHARS} more characters` : value;
    }

    // Whether the program has said how the object reads as a text; through a proxy nobody asks.
    function hasOwnText(v) {
        const fn = targetOf(v) === undefined ? lookup(v, 'toString') : undefined;
        return typeof fn === 'function' && find(apply(functionText, fn, []), '[native code]', 0) < 0;
    }

    return { __proto__: null, format, inspect, behind, hasOwnText };
});
