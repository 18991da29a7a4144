// Headers of the Fetch standard. Names are kept in lower case; iteration is in their order.
import { finish } from './finish.js';

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
let entriesOf;

function checkName(name) {
    const text = `${name}`;
    if (!token.test(text))
        throw new TypeError(`${JSON.stringify(text)} is no name of a header: letters, digits and - are, among others`);
    return text.toLowerCase();
}

function checkValue(value, name) {
    const text = `${value}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
    const at = text.search(/[\0\n\r\u0100-\uffff]/);
    if (at >= 0) {
        throw new TypeError(`The value of the header ${name} has ${JSON.stringify(text[at])} in it, which none can have; encodeURIComponent `
            + 'makes any text fit');
    }
    return text;
}

function pairs(init) {
    if (typeof init !== 'object' || init === null)
        throw new TypeError('Headers takes an object, a list of [name, value], or Headers: new Headers({ accept: "application/json" })');
    if (typeof init[Symbol.iterator] !== 'function')
        return Reflect.ownKeys(init).filter(key => Object.prototype.propertyIsEnumerable.call(init, key)).map(key => [key, init[key]]);
    return [...init].map(pair => {
        const list = typeof pair === 'object' && pair !== null && typeof pair[Symbol.iterator] === 'function' ? [...pair] : [];
        if (list.length !== 2)
            throw new TypeError('Each entry of a list of headers is a pair: [name, value]');
        return list;
    });
}

export class Headers {
    #map = new Map();

    constructor(init) {
        if (init === undefined)
            return;
        for (const [name, value] of pairs(init))
            this.append(name, value);
    }

    static {
        entriesOf = headers => {
            const out = [];
            for (const name of [...headers.#map.keys()].sort()) {
                const values = headers.#map.get(name);
                if (name === 'set-cookie')
                    out.push(...values.map(value => [name, value]));
                else
                    out.push([name, values.join(', ')]);
            }
            return out;
        };
    }

    append(name, value) {
        if (arguments.length < 2)
            throw new TypeError('Headers.append takes a name and a value');
        const key = checkName(name), text = checkValue(value, key), known = this.#map.get(key);
        if (known === undefined)
            this.#map.set(key, [text]);
        else
            known.push(text);
    }

    set(name, value) {
        if (arguments.length < 2)
            throw new TypeError('Headers.set takes a name and a value');
        const key = checkName(name);
        this.#map.set(key, [checkValue(value, key)]);
    }

    get(name) { return this.#map.get(checkName(name))?.join(', ') ?? null; }
    has(name) { return this.#map.has(checkName(name)); }
    delete(name) { this.#map.delete(checkName(name)); }
    getSetCookie() { return [...this.#map.get('set-cookie') ?? []]; }

    forEach(callback, self) {
        for (const [name, value] of entriesOf(this))
            callback.call(self, value, name, this);
    }

    *entries() { yield* entriesOf(this); }
    *keys() {
        for (const [name] of entriesOf(this))
            yield name;
    }
    *values() {
        for (const [, value] of entriesOf(this))
            yield value;
    }
}

Object.defineProperty(Headers.prototype, Symbol.iterator, { value: Headers.prototype.entries, writable: true, configurable: true });
finish({ Headers });

export const headerList = headers => entriesOf(headers);
