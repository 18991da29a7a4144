// What the prelude uses of the language, taken before the program can change it. Everything here is called through these
// bindings only: no method is looked up on a prototype, no array is iterated, no absent property is read from an object that
// inherits. That is what keeps a poisoned Array.prototype or JSON.stringify out of our own work.
//
// Everything is taken here, while the realm is new, and nothing at first use: a program that deleted Map.prototype.size could
// otherwise make our own work fail in the middle, and choose how that is told. All of it is paid again in every realm, though mostly while
// the worker is idle: most classes are made at their first mention (1 to 10 us, 0.06 ms for all that only rare values need), and every new
// property of every object is a new shape (0.5 us). So it is bindings and not tables that hold them, and tables that only rare values
// need are made of these bindings by once().
export const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
export const { freeze, getOwnPropertySymbols: propertySymbols, hasOwn: has, keys, prototype: ObjectPrototype } = Object;
export const { parse, stringify } = JSON;
export const { isArray } = Array;
export const { isError } = Error;
export const { imul } = Math;
export const { parseFloat, parseInt } = Number;
export const ErrorFn = Error;
export const TypeErrorFn = TypeError;
export const RangeErrorFn = RangeError;
export const PromiseFn = Promise;
export const ProxyFn = Proxy;
export const DateFn = Date;
export const StringFn = String;
export const NumberFn = Number;
export const BooleanFn = Boolean;
export const BigIntFn = BigInt;
export const MapFn = Map;
export const SetFn = Set;
export const RegExpFn = RegExp;
export const ViewFn = DataView;
export const BytesFn = Uint8Array;
export const BufferFn = ArrayBuffer;
export const tagSymbol = Symbol.toStringTag;
export const global = globalThis;

const string = String.prototype;
const { charCodeAt, indexOf, padEnd, slice, toWellFormed } = string;
export const { valueOf: stringValue } = string;

export const charCode = (text, i) => apply(charCodeAt, text, [i]);
export const find = (text, part, from) => apply(indexOf, text, [part, from]);
export const pad = (text, width) => apply(padEnd, text, [width]);
export const cut = (text, from, to) => apply(slice, text, [from, to]);
export const wellFormed = text => apply(toWellFormed, text, []);

// An own property or undefined: what is absent must not be looked for on a prototype of the program's.
export const own = (object, key) => (has(object, key) ? object[key] : undefined);
// The value of an own data property or undefined: no getter runs. A descriptor is an object of the program's realm, too.
export function ownData(object, key) {
    const d = getOwnPropertyDescriptor(object, key);
    return d === undefined ? undefined : own(d, 'value');
}

const getterOf = (object, key) => getOwnPropertyDescriptor(object, key).get;
const typed = getPrototypeOf(Uint8Array.prototype), view = DataView.prototype;
export const { isView } = ArrayBuffer;
export const typedTag = getterOf(typed, tagSymbol), typedBuffer = getterOf(typed, 'buffer');
export const typedOffset = getterOf(typed, 'byteOffset'), typedBytes = getterOf(typed, 'byteLength'), typedLength = getterOf(typed, 'length');
export const viewBuffer = getterOf(view, 'buffer'), viewOffset = getterOf(view, 'byteOffset'), viewBytes = getterOf(view, 'byteLength');
export const bufferBytes = getterOf(ArrayBuffer.prototype, 'byteLength');
export const { toBase64 } = Uint8Array.prototype;
export const { fromBase64 } = Uint8Array;
export const mapSize = getterOf(Map.prototype, 'size'), setSize = getterOf(Set.prototype, 'size');
export const { forEach: mapForEach, set: mapSet } = Map.prototype;
export const { forEach: setForEach, add: setAdd } = Set.prototype;
export const { get: weakGet, set: weakSet } = WeakMap.prototype;
// Errors that were made here, and where their calls were issued (position.js).
export const issued = new WeakMap();
export const { getTime, toISOString, toString: dateText } = Date.prototype;
export const { toString: numberText, valueOf: numberValue } = Number.prototype;
export const { valueOf: booleanValue } = Boolean.prototype;
export const { valueOf: bigintValue } = BigInt.prototype;
export const { toString: symbolText } = Symbol.prototype;
export const { toString: functionText } = Function.prototype;
export const { toString: regexpText } = RegExp.prototype;

// A data property of ours on something that the program can see.
export const define = (object, key, value, enumerable, writable) =>
    defineProperty(object, key, { __proto__: null, value, enumerable: !!enumerable, writable: !!writable, configurable: !!writable });

export const reject = error => new PromiseFn((_, no) => no(error));
export const isObject = value => typeof value === 'object' && value !== null;

// Text of any value, where a hostile toString must not stop us.
export function text(value) {
    if (typeof value === 'string')
        return value;
    try {
        return StringFn(value);
    } catch {
        return 'a value without text';
    }
}

export function once(make) {
    let made;
    return () => made || (made = make());
}
