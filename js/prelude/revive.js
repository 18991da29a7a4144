// Values on their way in: what the marks beside a JSON text say that it stands for.
import {
    apply, BigIntFn, BytesFn, cut, DateFn, define, ErrorFn, find, fromBase64, has, isError, keys, MapFn, mapSet, once, parse, RangeErrorFn,
    setAdd, SetFn, text, typedBuffer, TypeErrorFn, ViewFn,
} from './primordials.js';

// The tokens of a JSON Pointer are escaped with it.
export function replace(s, from, to) {
    let out = '';
    for (let at = 0, next; ; at = next + from.length) {
        next = find(s, from, at);
        if (next < 0)
            return out + cut(s, at);
        out += cut(s, at, next) + to;
    }
}

export const revival = once(() => {
    // Classes that are looked up at first use, since most realms never need them. A program that has replaced one gets what its own
    // constructor makes of data that is meant for it; deliver() turns what it throws into the failure of that one call.
    const errorTypes = once(() => ({ __proto__: null, TypeError: TypeErrorFn, RangeError: RangeErrorFn, SyntaxError, ReferenceError, EvalError, URIError,
        AggregateError }));

    const viewTypes = once(() => ({
        __proto__: null,
        int8: Int8Array, uint8c: Uint8ClampedArray, int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array,
        float32: Float32Array, float64: Float64Array, bigint64: BigInt64Array, biguint64: BigUint64Array,
    }));

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

    return { __proto__: null, makeError, reviveAll };
});
