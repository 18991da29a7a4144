// Values that cross: JSON text plus marks outside of it (src/json/value.h has the table). Each getter, proxy trap and toJSON of
// the program runs once. What has no faithful form is a TypeError that names the path.
import {
    apply, cut, getPrototypeOf, isArray, isObject, keys, ObjectPrototype, once, parse, PromiseFn, RangeErrorFn, RegExpFn, stringify,
} from './primordials.js';
import { revival } from './revive.js';
import { MAX_ITEMS_TOLD, specials } from './special.js';

// Below CM_VALUE_MAX_DEPTH, since containers such as Map add a level of their own to the JSON.
const MAX_DEPTH = 500;
// CM_FRAME_MAX_BYTES; the host's own limits are smaller and are enforced there.
const MAX_CHARS = 64 << 20;

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

// What plain data needs; the rest is made when a value is met that does (special.js).
export const encoder = once(() => {
    const special = once(() => specials({ __proto__: null, begin, enc, grow, MAX_CHARS }));

    function tooLong(st) {
        throw new RangeErrorFn(`${st.root} is larger than 64 MB; return less, for example a summary or a page`);
    }

    function grow(st, piece) {
        st.size += piece.length;
        if (st.size > st.max)
            tooLong(st);
        return piece;
    }

    // The text of v, which stands under `key` in `place`. What a realm calls for the first time takes it 3 us to link: so it is few functions
    // that plain data goes through, and not one for each kind.
    function enc(st, v, key, place, depth) {
        let out;
        switch (typeof v) {
        case 'object':
            if (v !== null)
                return container(st, v, key, place, depth, true);
            out = 'null';
            break;
        case 'string':
            out = stringify(st.lenient ? special().told(st, v) : v);
            break;
        case 'number':
            out = v < Infinity && v > -Infinity && (v !== 0 || 1 / v > 0) ? '' + v : special().number(st, v, key, place);
            break;
        case 'boolean':
            out = v ? 'true' : 'false';
            break;
        default:
            return special().other(st, v, key, place);
        }
        st.size += out.length;
        if (st.size > st.max)
            tooLong(st);
        return out;
    }

    function container(st, v, key, place, depth, mayToJSON) {
        for (let p = place; p !== null; p = p.up) {
            if (p.value === v)
                return special().refuse(st, place, key, 'a reference to an object that contains it (a cycle)');
        }
        if (depth >= MAX_DEPTH)
            return special().refuse(st, place, key, `nested deeper than ${MAX_DEPTH} levels`);
        const here = { __proto__: null, up: place, key, value: v };
        const array = isArray(v), proto = getPrototypeOf(v);
        const plain = array || proto === ObjectPrototype || proto === null;
        if (!plain) {
            const exotic = special().exotic(st, v, here, depth);
            if (exotic !== undefined)
                return exotic;
            // As arguments these would be {}, and nobody would see what was meant.
            if (proto === PromiseFn.prototype)
                return special().refuse(st, place, key, 'a Promise', place !== null && isArray(place.value) ? 'write await Promise.all(list) first' : 'await it first');
            if (proto === RegExpFn.prototype)
                return special().refuse(st, place, key, 'a RegExp', 'use its source, a text');
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
            return special().refuse(st, place, key, 'a connector', 'call one of its methods and use what it returns');
        const interfaced = plain ? undefined : refusalOf(v);
        if (interfaced !== undefined)
            return special().refuse(st, place, key, 'a ' + interfaced.name, interfaced.advice);
        if (!plain && !st.instances)
            return special().refuseInstance(st, v, key, place);
        return record(st, v, here, depth);
    }

    function list(st, v, here, depth) {
        // Once, and as a number: a proxy can answer with an object whose valueOf counts.
        const all = +v.length, length = st.brief && all > MAX_ITEMS_TOLD ? MAX_ITEMS_TOLD : all;
        // Every element takes a character, so what is too long is refused before memory is filled with it.
        if (st.size + length > st.max)
            tooLong(st);
        st.size += 2;
        let out = '[';
        for (let i = 0; i < length; i++)
            out += (i ? ',' : '') + enc(st, v[i], '' + i, here, depth + 1);
        return out + (length < all ? grow(st, `,"… ${all - length} more elements"]`) : ']');
    }

    function record(st, v, here, depth) {
        const names = keys(v);
        let out = '{';
        st.size += 2;
        if (st.lenient)
            return out + cut(special().tell(st, v, names, here, depth), 1) + '}';
        for (let i = 0; i < names.length; i++) {
            const name = names[i], value = enc(st, v[name], name, here, depth + 1), head = (i ? ',' : '') + stringify(name) + ':';
            out += head + value;
            st.size += head.length;
            if (st.size > st.max)
                tooLong(st);
        }
        return out + '}';
    }

    const begin = (root, instances, advice, lenient, max) =>
        ({ __proto__: null, root, instances, advice, lenient, brief: false, causes: 0, marks: '', size: 0, max });

    function encodeAny(value, root, instances, advice) {
        const st = begin(root, instances, advice, false, MAX_CHARS), json = enc(st, value, undefined, null, 0);
        return { __proto__: null, json, marks: st.marks === '' ? '' : '{' + st.marks + '}' };
    }

    return { __proto__: null, encodeAny, special };
});

// What a step threw: an error crosses whatever its fields hold.
export const encodeThrown = (value, root) => encoder().special().encodeThrown(value, root);

// For the reader of a failure, what it has beside name, message and code: own fields and causes, as one object.
export const encodeFields = thrown => encoder().special().encodeFields(thrown);

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
    return encoder().encodeAny(value, root, instances, advice);
}

// The inverse of encode, for what the host delivers: both texts are canonical and checked there.
export function decode(json, marks) {
    if (json === '')
        return undefined;
    const value = parse(json);
    return marks === '' || marks === '{}' ? value : revival().reviveAll(value, marks);
}
