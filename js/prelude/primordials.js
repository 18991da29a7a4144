// What the prelude uses of the language, taken before the program can change it. Everything here is called through these
// bindings only: no method is looked up on a prototype, no array is iterated, no absent property is read from an object that
// inherits. That is what keeps a poisoned Array.prototype or JSON.stringify out of our own work.
//
// All of this is paid again in every realm: most classes are made at their first mention (1 to 10 us), and every new property of every
// object is a new shape (0.5 us). So tables and what only rare values need (Map, typed arrays, ...) come from once(), at first use: a
// program that had replaced such a class harms itself alone.
export const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
export const { freeze, keys, prototype: ObjectPrototype } = Object;
export const { parse, stringify } = JSON;
export const { isArray } = Array;
export const { isError } = Error;
export const { imul } = Math;
export const ErrorFn = Error;
export const TypeErrorFn = TypeError;
export const RangeErrorFn = RangeError;
export const PromiseFn = Promise;
export const ProxyFn = Proxy;
export const DateFn = Date;
export const StringFn = String;
export const NumberFn = Number;
export const global = globalThis;

const string = String.prototype;
const { charCodeAt, indexOf, slice, toWellFormed } = string;
const { then } = Promise.prototype;

export const charCode = (text, i) => apply(charCodeAt, text, [i]);
export const find = (text, part, from) => apply(indexOf, text, [part, from]);
export const cut = (text, from, to) => apply(slice, text, [from, to]);
export const wellFormed = text => apply(toWellFormed, text, []);

export const has = (object, key) => getOwnPropertyDescriptor(object, key) !== undefined;

// A data property of ours on something that the program can see.
export const define = (object, key, value, enumerable, writable) =>
    defineProperty(object, key, { __proto__: null, value, enumerable: !!enumerable, writable: !!writable, configurable: !!writable });

export const reject = error => new PromiseFn((_, no) => no(error));
export const chain = (promise, yes, no) => apply(then, promise, [yes, no]);
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
