// Values that are no plain data on their way out: classes of the language by their marks, what is refused and how that is said, and errors
// with what they tell.
import {
    apply, bigintValue, booleanValue, bufferBytes, BytesFn, charCode, cut, find, getOwnPropertyDescriptor, getTime, isError, isObject,
    isView, keys, mapForEach, mapSize, numberValue, once, setForEach, setSize, stringify, stringValue, text, toBase64, typedBuffer,
    typedBytes, typedOffset, typedTag, TypeErrorFn, viewBuffer, viewBytes, viewOffset, wellFormed,
} from './primordials.js';
import { replace } from './revive.js';

// What a failure tells beside its message is for a reader: no more than that, no text and no list in it longer than these.
const MAX_FIELDS = 16000, MAX_FIELD_TEXT = 2000;
export const MAX_ITEMS_TOLD = 100;
// How many causes are told, one inside the other.
const MAX_CAUSES = 8;

// `st` is one encoding (codec.js): what it has made so far, and how it treats what it cannot send.
export function specials({ begin, enc, grow, MAX_CHARS }) {
    const encoded = (st, json) => ({ __proto__: null, json, marks: st.marks === '' ? '' : '{' + st.marks + '}' });

    // Kinds of value.h by class name; bytes are what a Uint8Array is called there.
    const viewKinds = once(() => ({
        __proto__: null,
        Uint8Array: 'bytes', Int8Array: 'int8', Uint8ClampedArray: 'uint8c', Int16Array: 'int16', Uint16Array: 'uint16',
        Int32Array: 'int32', Uint32Array: 'uint32', Float32Array: 'float32', Float64Array: 'float64',
        BigInt64Array: 'bigint64', BigUint64Array: 'biguint64',
    }));

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

    // One that JSON has no text for: what stands there in its place.
    function number(st, v, key, place) {
        mark(st, place, key, v !== v ? 'nan' : v === Infinity ? 'inf' : v === -Infinity ? '-inf' : '-0');
        return v === 0 ? '0' : 'null';
    }

    function other(st, v, key, place) {
        switch (typeof v) {
        case 'bigint':
            mark(st, place, key, 'bigint');
            return grow(st, '"' + v + '"');
        case 'symbol':
            return refuse(st, place, key, 'a symbol');
        case 'function':
            return refuse(st, place, key, 'a function');
        default:
            mark(st, place, key, 'undefined');
            return grow(st, 'null');
        }
    }

    // The host takes no halves of surrogate pairs, which a cut leaves, too.
    const told = (st, s) => wellFormed(st.brief && s.length > MAX_FIELD_TEXT
        ? cut(s, 0, MAX_FIELD_TEXT) + `… ${s.length - MAX_FIELD_TEXT} more characters` : s);

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

    return { __proto__: null, encodeFields, encodeThrown, exotic, number, other, refuse, refuseInstance, tell, told };
}
