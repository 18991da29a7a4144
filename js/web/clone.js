// structuredClone: StructuredSerialize and StructuredDeserialize of the HTML standard in one walk. A buffer to be transferred is copied,
// and its origin detached when all has been cloned: nobody can tell the difference, and what fails has changed nothing.
import { DOMException, isDOMException } from './domexception.js';

const getter = (prototype, key) => Object.getOwnPropertyDescriptor(prototype, key).get;
const typedArray = Object.getPrototypeOf(Uint8Array.prototype), view = DataView.prototype, buffer = ArrayBuffer.prototype;
const typedTag = getter(typedArray, Symbol.toStringTag);
const errorTypes = { __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const isRegExp = getter(RegExp.prototype, 'dotAll');

// What a method of one class says about an object of that class, undefined for every other.
function brand(method, value) {
    try {
        return method.call(value);
    } catch {
        return undefined;
    }
}

function refuse(what) {
    throw new DOMException(`structuredClone cannot clone ${what}`, 'DataCloneError');
}

function boxed(value) {
    for (const { valueOf } of [Boolean.prototype, Number.prototype, String.prototype, BigInt.prototype, Symbol.prototype]) {
        const inner = brand(valueOf, value);
        if (typeof inner === 'symbol')
            refuse('a symbol');
        if (inner !== undefined)
            return Object(inner);
    }
    return undefined;
}

function cloneBuffer(value) {
    if (value.detached)
        refuse('an ArrayBuffer that is detached');
    const copy = value.resizable ? new ArrayBuffer(value.byteLength, { maxByteLength: value.maxByteLength }) : new ArrayBuffer(value.byteLength);
    new Uint8Array(copy).set(new Uint8Array(value));
    return copy;
}

function cloneError(value, seen) {
    const name = value.name, message = Object.getOwnPropertyDescriptor(value, 'message');
    const Type = errorTypes[typeof name === 'string' ? name : ''] ?? Error;
    const copy = message !== undefined && 'value' in message ? new Type(`${message.value}`) : new Type();
    seen.set(value, copy);
    const hidden = (key, inner) => Object.defineProperty(copy, key, { value: inner, writable: true, enumerable: false, configurable: true });
    if (typeof value.stack === 'string')
        hidden('stack', value.stack);
    const cause = Object.getOwnPropertyDescriptor(value, 'cause');
    if (cause !== undefined && 'value' in cause)
        hidden('cause', clone(cause.value, seen));
    return copy;
}

// Objects without parts of their own; undefined for what has some.
function leaf(value) {
    if (brand(Date.prototype.getTime, value) !== undefined)
        return new Date(Date.prototype.getTime.call(value));
    if (Object.getPrototypeOf(value) !== null && brand(isRegExp, value) !== undefined && value !== RegExp.prototype)
        return new RegExp(value.source, value.flags);
    if (brand(getter(buffer, 'byteLength'), value) !== undefined)
        return cloneBuffer(value);
    if (isDOMException(value)) {
        const copy = new DOMException(value.message, value.name);
        Object.defineProperty(copy, 'stack', { value: value.stack, writable: true, enumerable: false, configurable: true });
        return copy;
    }
    return boxed(value) ?? kit.clone(value);
}

function cloneView(value, seen) {
    const tag = typedTag.call(value);
    if (tag === undefined) {
        const offset = getter(view, 'byteOffset').call(value), length = getter(view, 'byteLength').call(value);
        return new DataView(clone(getter(view, 'buffer').call(value), seen), offset, length);
    }
    const inner = getter(typedArray, 'buffer').call(value);
    if (inner.detached)
        refuse('a view of an ArrayBuffer that is detached');
    const offset = getter(typedArray, 'byteOffset').call(value), length = getter(typedArray, 'length').call(value);
    const Type = { Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array,
        BigInt64Array, BigUint64Array }[tag] ?? refuse(`a ${tag}`);
    return new Type(clone(inner, seen), offset, length);
}

function members(value, copy, seen) {
    for (const key of Object.keys(value)) {
        if (!Object.hasOwn(value, key))
            continue;
        Object.defineProperty(copy, key, { value: clone(value[key], seen), writable: true, enumerable: true, configurable: true });
    }
    return copy;
}

// What has parts is noted before its parts are cloned: they may lead back to it.
function container(value, seen) {
    const note = copy => {
        seen.set(value, copy);
        return copy;
    };
    if (ArrayBuffer.isView(value))
        return note(cloneView(value, seen));
    if (Error.isError(value))
        return cloneError(value, seen);
    if (brand(getter(Map.prototype, 'size'), value) !== undefined) {
        const copy = note(new Map()), entries = [];
        Map.prototype.forEach.call(value, (inner, key) => entries.push([key, inner]));
        for (const [key, inner] of entries)
            copy.set(clone(key, seen), clone(inner, seen));
        return copy;
    }
    if (brand(getter(Set.prototype, 'size'), value) !== undefined) {
        const copy = note(new Set()), entries = [];
        Set.prototype.forEach.call(value, inner => entries.push(inner));
        for (const inner of entries)
            copy.add(clone(inner, seen));
        return copy;
    }
    if (Array.isArray(value)) {
        const copy = note([]);
        copy.length = value.length;
        return members(value, copy, seen);
    }
    return members(value, note({}), seen);
}

// Objects that are more than their own properties.
function isUnclonable(value) {
    if (value instanceof Promise)
        return 'a Promise; await it first';
    if (brand(function () { return WeakMap.prototype.has.call(this, value); }, value) !== undefined)
        return 'a WeakMap';
    if (brand(function () { return WeakSet.prototype.has.call(this, value); }, value) !== undefined)
        return 'a WeakSet';
    return kit.nameOf(value);
}

function clone(value, seen) {
    if (typeof value === 'symbol')
        refuse('a symbol');
    if (typeof value === 'function')
        refuse(value.name ? `the function ${value.name}` : 'a function');
    if (typeof value !== 'object' || value === null)
        return value;
    const known = seen.get(value);
    if (known !== undefined)
        return known;
    const copy = leaf(value);
    if (copy !== undefined) {
        seen.set(value, copy);
        return copy;
    }
    const what = isUnclonable(value);
    if (what !== undefined)
        refuse(what);
    return container(value, seen);
}

export const { structuredClone } = {
    structuredClone(value, options) {
        if (arguments.length === 0)
            throw new TypeError('structuredClone takes a value');
        const transfer = new Set();
        for (const item of options?.transfer ?? []) {
            if (!(item instanceof ArrayBuffer))
                refuse('by transfer anything but an ArrayBuffer');
            if (item.detached || transfer.has(item))
                refuse(`by transfer an ArrayBuffer that is ${item.detached ? 'detached' : 'given twice'}`);
            transfer.add(item);
        }
        const copy = clone(value, new Map());
        for (const item of transfer)
            item.transfer();
        return copy;
    },
};
