// Globals that are made at their first use, since most programs use few of them.
import { defineProperty, global } from './primordials.js';

export function lazy(name, make) {
    const settle = value => {
        defineProperty(global, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
        return value;
    };
    defineProperty(global, name, {
        __proto__: null, enumerable: false, configurable: true, get: () => settle(make()), set: settle,
    });
}
