// Globals that are made at their first use, since most programs use few of them.
import { defineProperty, global } from './primordials.js';

// One descriptor for all: a new object for each would be half of what they cost.
const slot = { __proto__: null, enumerable: false, configurable: true, get: undefined, set: undefined };

function settle(name, value) {
    defineProperty(global, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
    return value;
}

export function lazy(name, make) {
    slot.get = () => settle(name, make());
    slot.set = value => settle(name, value);
    defineProperty(global, name, slot);
}
