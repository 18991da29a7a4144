// Values as text for people: what console shows. JSON-like, bounded in size and depth, and it never throws.
import {
    apply, cut, functionText, getPrototypeOf, getTime, isArray, isError, isObject, isView, keys, mapForEach, mapSize, ObjectPrototype, once,
    ownData, PromiseFn, regexpText, RegExpFn, setForEach, setSize, stringify, symbolText, text, toISOString, typedLength,
} from './primordials.js';

const MAX_CHARS = 16000;
const MAX_DEPTH = 8;
const MAX_ITEMS = 200;

export const formatter = once(() => {
    function list(st, length, write) {
        let out = '';
        for (let i = 0; i < length && st.size < MAX_CHARS; i++) {
            if (i === MAX_ITEMS)
                return out + `,… ${length - i} more`;
            out += (i ? ',' : '') + write(i);
        }
        return out;
    }

    function typeName(v) {
        try {
            const name = v.constructor.name;
            return typeof name === 'string' ? cut(name, 0, 80) : '';
        } catch {
            return '';
        }
    }

    function members(st, v, here) {
        const names = keys(v);
        return list(st, names.length, i => {
            const key = stringify(names[i]);
            st.size += key.length;
            return key + ':' + show(st, v[names[i]], here);
        });
    }

    // What a getter or method of one class says about an object of that class, undefined for every other.
    const brand = (getter, v) => {
        try {
            return apply(getter, v, []);
        } catch {
            return undefined;
        }
    };

    function special(st, v, here) {
        if (isError(v)) {
            const name = text(v.name), message = text(v.message), extra = members(st, v, here);
            return name + (message ? ': ' + message : '') + (extra ? ' {' + extra + '}' : '');
        }
        const time = brand(getTime, v);
        if (time !== undefined)
            return time === time ? apply(toISOString, v, []) : 'Invalid Date';
        const mapped = brand(mapSize, v);
        if (mapped !== undefined) {
            let out = '';
            apply(mapForEach, v, [(value, key) => {
                if (st.size < MAX_CHARS)
                    out += (out ? ', ' : '') + show(st, key, here) + ' => ' + show(st, value, here);
            }]);
            return `Map(${mapped}) {${out}}`;
        }
        const held = brand(setSize, v);
        if (held !== undefined) {
            let out = '';
            apply(setForEach, v, [value => {
                if (st.size < MAX_CHARS)
                    out += (out ? ', ' : '') + show(st, value, here);
            }]);
            return `Set(${held}) {${out}}`;
        }
        const n = isView(v) ? brand(typedLength, v) : undefined;
        if (n !== undefined)
            return `${typeName(v)}(${n}) [${list(st, n, i => show(st, v[i], here))}]`;
        if (v instanceof RegExpFn)
            return text(apply(regexpText, v, []));
        if (v instanceof PromiseFn)
            return 'Promise {}, not awaited';
        return undefined;
    }

    function object(st, v, up) {
        let depth = 0;
        for (let p = up; p !== null; p = p.up, depth++) {
            if (p.value === v)
                return '[Circular]';
        }
        if (depth >= MAX_DEPTH)
            return isArray(v) ? '[…]' : '{…}';
        const here = { __proto__: null, up, value: v };
        if (isArray(v))
            return '[' + list(st, +v.length, i => show(st, v[i], here)) + ']';
        const proto = getPrototypeOf(v);
        if (proto === ObjectPrototype || proto === null)
            return '{' + members(st, v, here) + '}';
        const known = special(st, v, here);
        if (known !== undefined)
            return known;
        const toJSON = v.toJSON;
        if (typeof toJSON === 'function')
            return show(st, apply(toJSON, v, ['']), here);
        const name = typeName(v);
        return (name && name !== 'Object' ? name + ' ' : '') + '{' + members(st, v, here) + '}';
    }

    function plain(v) {
        switch (typeof v) {
        case 'string':
            return stringify(v);
        case 'bigint':
            return v + 'n';
        case 'symbol':
            return apply(symbolText, v, []);
        case 'function': {
            const name = ownData(v, 'name');
            const kind = cut(apply(functionText, v, []), 0, 6) === 'class ' ? 'class' : 'function';
            return `[${kind}${typeof name === 'string' && name ? ' ' + name : ''}]`;
        }
        default:
            return v === 0 && 1 / v < 0 ? '-0' : '' + v;
        }
    }

    // What was thrown may throw in its turn.
    function reason(e) {
        try {
            return isError(e) ? text(e.message) : 'it threw';
        } catch {
            return 'it threw';
        }
    }

    function show(st, v, up) {
        let out;
        try {
            out = isObject(v) ? object(st, v, up) : plain(v);
        } catch (e) {
            out = '[cannot be shown: ' + reason(e) + ']';
        }
        // Only what is written here counts; what is inside was counted there.
        st.size += isObject(v) ? 2 : out.length;
        return st.size > MAX_CHARS * 2 ? '…' : out;
    }

    // A top-level text is shown as it is, everything else like JSON.
    function format(value) {
        const out = typeof value === 'string' ? value : show({ __proto__: null, size: 0 }, value, null);
        return out.length > MAX_CHARS ? cut(out, 0, MAX_CHARS) + `… ${out.length - MAX_CHARS} more characters` : out;
    }

    return { __proto__: null, format };
});
