// Values that cross: JSON text plus marks outside of it (src/json/value.h has the table). Each getter, proxy trap and toJSON of
// the program runs once. What has no faithful form is a TypeError that names the path.
import {
    apply, BigIntFn, bigintValue, booleanValue, bufferBytes, BytesFn, charCode, cut, DateFn, define, ErrorFn, find, fromBase64,
    getOwnPropertyDescriptor, getPrototypeOf, getTime, has, isArray, isError, isObject, isView, keys, mapForEach, MapFn, mapSet, mapSize,
    numberValue, ObjectPrototype, once, own, parse, PromiseFn, RangeErrorFn, RegExpFn, setAdd, SetFn, setForEach, setSize, stringify, stringValue,
    text, toBase64, TypeErrorFn, typedBuffer, typedBytes, typedOffset, typedTag, viewBuffer, viewBytes, ViewFn, viewOffset,
    wellFormed,
} from './primordials.js';

// Below CM_VALUE_MAX_DEPTH, since containers such as Map add a level of their own to the JSON.
const MAX_DEPTH = 500;
// CM_FRAME_MAX_BYTES; the host's own limits are smaller and are enforced there.
const MAX_CHARS = 64 << 20;
// What a failure tells beside its message is for a reader: no more than that, no text and no list in it longer than these.
const MAX_FIELDS = 16000, MAX_FIELD_TEXT = 2000, MAX_FIELD_ITEMS = 100;
// How many causes are told, one inside the other.
const MAX_CAUSES = 8;

// Whether a value is a connector's namespace, told apart from an empty object; set by namespaces.js.
let isNamespace = () => false;
export const tellNamespaces = test => {
    isNamespace = test;
};

// What a web interface says of an object of its own that is no data, {name, advice} or undefined; set by web.js.
let refusalOf = () => undefined;
export const tellRefusals = test => {
    refusalOf = test;
};

export const codec = once(() => {
    // Classes that are looked up at first use, since most realms never need them. A program that has replaced one gets what its own
    // constructor makes of data that is meant for it; deliver() turns what it throws into the failure of that one call.
    const errorTypes = once(() => ({ __proto__: null, TypeError: TypeErrorFn, RangeError: RangeErrorFn, SyntaxError, ReferenceError, EvalError, URIError,
        AggregateError }));
    // Kinds of value.h by class name; bytes are what a Uint8Array is called there.
    const viewKinds = once(() => ({
        __proto__: null,
        Uint8Array: 'bytes', Int8Array: 'int8', Uint8ClampedArray: 'uint8c', Int16Array: 'int16', Uint16Array: 'uint16',
        Int32Array: 'int32', Uint32Array: 'uint32', Float32Array: 'float32', Float64Array: 'float64',
        BigInt64Array: 'bigint64', BigUint64Array: 'biguint64',
    }));
    const viewTypes = once(() => ({
        __proto__: null,
        int8: Int8Array, uint8c: Uint8ClampedArray, int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array,
        float32: Float32Array, float64: Float64Array, bigint64: BigInt64Array, biguint64: BigUint64Array,
    }));

    function replace(s, from, to) {
        let out = '';
        for (let at = 0, next; ; at = next + from.length) {
            next = find(s, from, at);
            if (next < 0)
                return out + cut(s, at);
            out += cut(s, at, next) + to;
        }
    }

    const escapeToken = key => (find(key, '~') < 0 && find(key, '/') < 0 ? key : replace(replace(key, '~', '~0'), '/', '~1'));

    // A place is {up, key, value}, one for each container around a value, null outside of all: linked, since an array of ours could
    // meet a setter on Array.prototype.
    function pointer(place, key) {
        let out = key === undefined ? '' : '/' + escapeToken(key);
        for (; place !== null && place.up !== null; place = place.up)
            out = '/' + escapeToken(place.key) + out;
        return out;
    }

    function isName(key) {
        for (let i = 0; i < key.length; i++) {
            const c = charCode(key, i) | 32;
            if (!((c >= 97 && c <= 122) || c === 127 || key[i] === '$' || (i > 0 && key[i] >= '0' && key[i] <= '9')))
                return false;
        }
        return key.length > 0;
    }

    const step = key => (key !== '' && +key >= 0 ? `[${key}]` : isName(key) ? '.' + key : `[${stringify(key)}]`);

    function path(st, place, key) {
        let out = key === undefined ? '' : step(key);
        for (; place !== null && place.up !== null; place = place.up)
            out = step(place.key) + out;
        return st.root + out;
    }

    // In an error that is thrown nothing is refused: what has no faithful form is named in its place.
    function refuse(st, place, key, what, advice) {
        if (st.lenient)
            return grow(st, stringify('[' + what + ']'));
        throw new TypeErrorFn(`${path(st, place, key)} is ${what}; ${advice || st.advice || 'give data instead'}`);
    }

    function mark(st, place, key, kind) {
        st.marks += (st.marks === '' ? '' : ',') + stringify(pointer(place, key)) + ':"' + kind + '"';
    }

    function bound(st, size) {
        if (size > st.max)
            throw new RangeErrorFn(`${st.root} is larger than 64 MB; return less, for example a summary or a page`);
    }

    function grow(st, piece) {
        st.size += piece.length;
        bound(st, st.size);
        return piece;
    }

    function number(st, v, key, place) {
        if (v !== v)
            mark(st, place, key, 'nan');
        else if (v === Infinity)
            mark(st, place, key, 'inf');
        else if (v === -Infinity)
            mark(st, place, key, '-inf');
        else if (v === 0 && 1 / v < 0)
            mark(st, place, key, '-0');
        else
            return grow(st, '' + v);
        return grow(st, v === 0 ? '0' : 'null');
    }

    // The host takes no halves of surrogate pairs, which a cut leaves, too.
    const told = (st, s) => wellFormed(st.brief && s.length > MAX_FIELD_TEXT
        ? cut(s, 0, MAX_FIELD_TEXT) + `… ${s.length - MAX_FIELD_TEXT} more characters` : s);

    // The text of v, which stands under `key` in `place`.
    function enc(st, v, key, place, depth) {
        switch (typeof v) {
        case 'string':
            return grow(st, stringify(st.lenient ? told(st, v) : v));
        case 'number':
            return number(st, v, key, place);
        case 'boolean':
            return grow(st, v ? 'true' : 'false');
        case 'undefined':
            mark(st, place, key, 'undefined');
            return grow(st, 'null');
        case 'bigint':
            mark(st, place, key, 'bigint');
            return grow(st, '"' + v + '"');
        case 'symbol':
            return refuse(st, place, key, 'a symbol');
        case 'function':
            return refuse(st, place, key, 'a function');
        }
        if (v === null)
            return grow(st, 'null');
        return container(st, v, key, place, depth, true);
    }

    function container(st, v, key, place, depth, mayToJSON) {
        for (let p = place; p !== null; p = p.up) {
            if (p.value === v)
                return refuse(st, place, key, 'a reference to an object that contains it (a cycle)');
        }
        if (depth >= MAX_DEPTH)
            return refuse(st, place, key, `nested deeper than ${MAX_DEPTH} levels`);
        const here = { __proto__: null, up: place, key, value: v };
        const array = isArray(v), proto = getPrototypeOf(v);
        const plain = array || proto === ObjectPrototype || proto === null;
        if (!plain) {
            const special = exotic(st, v, here, depth);
            if (special !== undefined)
                return special;
            // As arguments these would be {}, and nobody would see what was meant.
            if (proto === PromiseFn.prototype)
                return refuse(st, place, key, 'a Promise', place !== null && isArray(place.value) ? 'write await Promise.all(list) first' : 'await it first');
            if (proto === RegExpFn.prototype)
                return refuse(st, place, key, 'a RegExp', 'use its source, a text');
        }
        const toJSON = mayToJSON ? v.toJSON : undefined;
        if (typeof toJSON === 'function') {
            const data = apply(toJSON, v, [key === undefined ? '' : key]);
            // What it returns is not asked again: JSON.stringify does not either.
            return isObject(data) ? container(st, data, key, place, depth + 1, false) : enc(st, data, key, place, depth);
        }
        if (array)
            return list(st, v, here, depth);
        if (proto === null && isNamespace(v))
            return refuse(st, place, key, 'a connector', 'call one of its methods and use what it returns');
        const interfaced = plain ? undefined : refusalOf(v);
        if (interfaced !== undefined)
            return refuse(st, place, key, 'a ' + interfaced.name, interfaced.advice);
        if (!plain && !st.instances)
            return refuseInstance(st, v, key, place);
        return record(st, v, keys(v), here, depth);
    }

    function refuseInstance(st, v, key, place) {
        let name = '';
        try {
            name = text(v[Symbol.toStringTag] || v.constructor.name);
        } catch {
            // A proxy or an object without constructor has no name to tell.
        }
        return refuse(st, place, key, name ? `an instance of ${cut(name, 0, 80)}` : 'an object of a class',
               find(name, 'Generator', 0) >= 0 || find(name, 'Iterator', 0) >= 0 ? 'return what it yields: [...value], or await Array.fromAsync(value)'
                   : 'return plain data, for example {...value} or the fields you need, or give the class a toJSON method');
    }

    function list(st, v, here, depth) {
        // Once, and as a number: a proxy can answer with an object whose valueOf counts.
        const all = +v.length, length = st.brief && all > MAX_FIELD_ITEMS ? MAX_FIELD_ITEMS : all;
        // Every element takes a character, so what is too long is refused before memory is filled with it.
        bound(st, st.size + length);
        let out = '[';
        grow(st, '[]');
        for (let i = 0; i < length; i++)
            out += (i ? ',' : '') + enc(st, v[i], '' + i, here, depth + 1);
        return out + (length < all ? grow(st, `,"… ${all - length} more elements"]`) : ']');
    }

    function record(st, v, names, here, depth) {
        let out = '{';
        grow(st, '{}');
        if (st.lenient)
            return out + cut(tell(st, v, names, here, depth), 1) + '}';
        for (let i = 0; i < names.length; i++) {
            const name = names[i];
            const value = enc(st, v[name], name, here, depth + 1);
            out += grow(st, (i ? ',' : '') + stringify(name) + ':') + value;
        }
        return out + '}';
    }

    // `,"name":value` for each field of what is thrown. One that cannot be read, or is too large, must not hide the others;
    // methods are no data.
    function tell(st, v, names, here, depth) {
        let out = '';
        for (let i = 0; i < names.length && st.size < st.max; i++) {
            const name = wellFormed(names[i]), { marks, size, causes } = st;
            try {
                const value = v[names[i]];
                if (typeof value === 'function' || typeof value === 'symbol')
                    continue;
                const json = enc(st, value, name, here, depth + 1);
                out += grow(st, ',' + stringify(name) + ':') + json;
            } catch {
                st.marks = marks;
                st.size = size;
                st.causes = causes;
                const lost = ',' + stringify(name) + ':"[cannot be shown]"';
                if (st.size + lost.length < st.max)
                    out += grow(st, lost);
            }
        }
        return out;
    }

    const brand = (getter, v) => {
        try {
            return apply(getter, v, []);
        } catch {
            return undefined;
        }
    };

    // Bytes that were transferred away, or that a view pointed at before its buffer shrank, cannot be taken.
    function base64(st, here, take) {
        let bytes;
        try {
            bytes = take();
        } catch {
            return refuse(st, here.up, here.key, 'a buffer whose bytes are gone (transfer, resize)', 'give what transfer() returned, or a copy made before');
        }
        return stringify(apply(toBase64, bytes, []));
    }

    function binary(st, v, here) {
        let kind, data;
        if (isView(v)) {
            const tag = apply(typedTag, v, []);
            if (tag === undefined) {
                kind = 'dataview';
                data = base64(st, here, () => new BytesFn(apply(viewBuffer, v, []), apply(viewOffset, v, []), apply(viewBytes, v, [])));
            } else {
                kind = viewKinds()[tag];
                if (kind === undefined)
                    return refuse(st, here.up, here.key, 'a ' + tag, 'use a Float32Array or plain numbers');
                data = base64(st, here, () => new BytesFn(apply(typedBuffer, v, []), apply(typedOffset, v, []), apply(typedBytes, v, [])));
            }
        } else {
            const length = brand(bufferBytes, v);
            if (length === undefined)
                return undefined;
            kind = 'arraybuffer';
            data = base64(st, here, () => new BytesFn(v, 0, length));
        }
        markAt(st, here, kind);
        return grow(st, data);
    }

    const markAt = (st, here, kind) => mark(st, here.up, here.key, kind);

    function map(st, v, here, depth) {
        let out = '', i = 0;
        markAt(st, here, 'map');
        apply(mapForEach, v, [(value, name) => {
            const pair = { __proto__: null, up: here, key: '' + i, value: null };
            const left = enc(st, name, '0', pair, depth + 2);
            out += (i++ ? ',' : '') + '[' + left + ',' + enc(st, value, '1', pair, depth + 2) + ']';
            grow(st, '[,],');
        }]);
        return '[' + out + ']';
    }

    function set(st, v, here, depth) {
        let out = '', i = 0;
        markAt(st, here, 'set');
        apply(setForEach, v, [value => {
            out += (i ? ',' : '') + enc(st, value, '' + i, here, depth + 1);
            i++;
        }]);
        return '[' + out + ']';
    }

    // Date, bytes, Map, Set, Error, boxed primitives; undefined for everything else.
    function exotic(st, v, here, depth) {
        if (isError(v)) {
            // Where it stands in a failure says what it is.
            if (!st.brief)
                markAt(st, here, 'error');
            return error(st, v, here, depth);
        }
        const time = brand(getTime, v);
        if (time !== undefined) {
            markAt(st, here, 'date');
            return grow(st, time === time ? '' + time : 'null');
        }
        const bytes = binary(st, v, here);
        if (bytes !== undefined)
            return bytes;
        if (brand(mapSize, v) !== undefined)
            return map(st, v, here, depth);
        if (brand(setSize, v) !== undefined)
            return set(st, v, here, depth);
        let value = brand(numberValue, v);
        if (value === undefined)
            value = brand(stringValue, v);
        if (value === undefined)
            value = brand(booleanValue, v);
        if (value === undefined)
            value = brand(bigintValue, v);
        return value === undefined ? undefined : enc(st, value, here.key, here.up, depth);
    }

    const isHidden = (object, key) => {
        const d = getOwnPropertyDescriptor(object, key);
        return d !== undefined && !d.enumerable;
    };

    // The names of an error's fields, which are settled before a getter of them runs: {0, 1, …, length}.
    function fieldNames(e, isSkipped) {
        const names = keys(e), out = { __proto__: null, length: 0 };
        for (let i = 0; i < names.length; i++) {
            if (!isSkipped(names[i]))
                out[out.length++] = names[i];
        }
        if (isHidden(e, 'cause'))
            out[out.length++] = 'cause';
        if (isHidden(e, 'errors'))
            out[out.length++] = 'errors';
        return out;
    }

    const isHead = name => name === 'name' || name === 'message';

    function error(st, e, here, depth) {
        const name = text(e.name), message = text(e.message);
        if (st.brief && st.causes >= MAX_CAUSES)
            return grow(st, stringify(told(st, name + ': ' + message)));
        const names = fieldNames(e, isHead);
        let out = '{"name":' + stringify(st.lenient ? told(st, name) : name) + ',"message":' + stringify(st.lenient ? told(st, message) : message);
        grow(st, out + '}');
        if (st.lenient) {
            st.causes++;
            out += tell(st, e, names, here, depth);
            st.causes--;
            return out + '}';
        }
        for (let i = 0; i < names.length; i++) {
            const value = enc(st, e[names[i]], names[i], here, depth + 1);
            out += grow(st, ',' + stringify(names[i]) + ':') + value;
        }
        return out + '}';
    }

    const begin = (root, instances, advice, lenient, max) =>
        ({ __proto__: null, root, instances, advice, lenient, brief: false, causes: 0, marks: '', size: 0, max });
    const encoded = (st, json) => ({ __proto__: null, json, marks: st.marks === '' ? '' : '{' + st.marks + '}' });

    function encodeAny(value, root, instances, advice) {
        const st = begin(root, instances, advice, false, MAX_CHARS);
        return encoded(st, enc(st, value, undefined, null, 0));
    }

    // What a step threw: an error crosses whatever its fields hold.
    function encodeThrown(value, root) {
        const st = begin(root, true, undefined, isObject(value) && isError(value), MAX_CHARS);
        return encoded(st, enc(st, value, undefined, null, 0));
    }

    const isTold = name => isHead(name) || name === 'code' || name === 'stack';

    // For the reader of a failure, what it has beside name, message and code: own fields and causes, as one object.
    function encodeFields(thrown) {
        const st = begin('', true, undefined, true, MAX_FIELDS);
        st.brief = true;
        const here = { __proto__: null, up: null, key: undefined, value: thrown };
        const json = cut(tell(st, thrown, fieldNames(thrown, isTold), here, 0), 1);
        return json === '' ? { __proto__: null, json, marks: '' } : encoded(st, '{' + json + '}');
    }

    function makeError(fields) {
        const name = has(fields, 'name') ? text(fields.name) : 'Error', message = text(fields.message);
        const Type = errorTypes()[name] || ErrorFn;
        let e = name === 'AggregateError' ? new Type([], message) : new Type(message);
        if (!isError(e))
            e = new ErrorFn(message);
        if (Type === ErrorFn && name !== 'Error')
            define(e, 'name', name, false, true);
        const names = keys(fields);
        for (let i = 0; i < names.length; i++) {
            if (names[i] !== 'name' && names[i] !== 'message' && names[i] !== 'stack')
                define(e, names[i], fields[names[i]], names[i] !== 'cause' && names[i] !== 'errors', true);
        }
        return e;
    }

    const bytesOf = data => apply(fromBase64, BytesFn, [data]);
    const bufferOf = data => apply(typedBuffer, bytesOf(data), []);

    const revive = once(() => ({
        __proto__: null,
        'undefined': () => undefined,
        nan: () => NaN,
        inf: () => Infinity,
        '-inf': () => -Infinity,
        '-0': () => -0,
        bigint: v => BigIntFn(v),
        date: v => new DateFn(v === null ? NaN : v),
        bytes: bytesOf,
        arraybuffer: bufferOf,
        dataview: v => new ViewFn(bufferOf(v)),
        error: makeError,
        map: v => {
            const made = new MapFn();
            for (let i = 0; i < v.length; i++)
                apply(mapSet, made, [v[i][0], v[i][1]]);
            return made;
        },
        set: v => {
            const made = new SetFn();
            for (let i = 0; i < v.length; i++)
                apply(setAdd, made, [v[i]]);
            return made;
        },
    }));

    function reviveAs(kind, v) {
        const make = revive()[kind];
        if (make !== undefined)
            return make(v);
        const Type = viewTypes()[kind];
        return new Type(bufferOf(v));
    }

    function depthOf(p) {
        let n = 0;
        for (let at = find(p, '/', 0); at >= 0; at = find(p, '/', at + 1))
            n++;
        return n;
    }

    function put(root, p, kind) {
        let parent = root, at = 1;
        for (;;) {
            const next = find(p, '/', at);
            let token = cut(p, at, next < 0 ? p.length : next);
            if (find(token, '~', 0) >= 0)
                token = replace(replace(token, '~1', '/'), '~0', '~');
            if (next < 0) {
                // Its own data property, as parse made it: no setter is asked.
                parent[token] = reviveAs(kind, parent[token]);
                return;
            }
            parent = parent[token];
            at = next + 1;
        }
    }

    function reviveAll(value, marks) {
        const kinds = parse(marks), pointers = keys(kinds);
        // Pointers by their depth, as lists of numbers from 1: last[d] is the one found last, before[i] the one before it.
        const last = { __proto__: null }, before = { __proto__: null };
        let deepest = 0;
        for (let i = 1; i <= pointers.length; i++) {
            const d = depthOf(pointers[i - 1]);
            before[i] = last[d];
            last[d] = i;
            if (d > deepest)
                deepest = d;
        }
        // Deepest first: a Map is built from what stands in it.
        for (let d = deepest; d > 0; d--) {
            for (let i = last[d]; i !== undefined; i = before[i])
                put(value, pointers[i - 1], kinds[pointers[i - 1]]);
        }
        return has(kinds, '') ? reviveAs(kinds[''], value) : value;
    }

    return { __proto__: null, encodeAny, encodeThrown, encodeFields, reviveAll, makeError };
});

// {json, marks}: `root` names the value in messages. With `instances`, objects of classes are taken by their own data, as
// JSON.stringify does: tools expect that of arguments.
export function encode(value, root, instances, advice) {
    switch (typeof value) {
    case 'undefined':
        return { __proto__: null, json: '', marks: '' };
    case 'number':
        if (!(value < Infinity && value > -Infinity) || (value === 0 && 1 / value < 0))
            break;
        return { __proto__: null, json: '' + value, marks: '' };
    case 'string':
    case 'boolean':
        return { __proto__: null, json: stringify(value), marks: '' };
    }
    return codec().encodeAny(value, root, instances, advice);
}

// The inverse of encode, for what the host delivers: both texts are canonical and checked there.
export function decode(json, marks) {
    if (json === '')
        return undefined;
    const value = parse(json);
    return marks === '' || marks === '{}' ? value : codec().reviveAll(value, marks);
}
