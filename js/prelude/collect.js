// A result that holds promises: `return items.map(async …)` means their values. They are awaited, one level deep, and the author is told;
// deeper ones are refused by their path, as any value without data.
import {
    define, getOwnPropertyDescriptor, getPrototypeOf, has, isArray, isObject, keys, ObjectPrototype, ownData, PromiseFn,
} from './primordials.js';
import { errors } from './errors.js';
import { OP_TARGET } from './state.js';

const MAX_LOOK = 200;

const isPromise = value => isObject(value) && value instanceof PromiseFn;

// The name of the first, or undefined. It is looked for at the front only, where a list of promises has one: looking through all of a
// large result would take longer than sending it. A proxy's traps are for the codec to call, once.
function firstPromise(value) {
    if (!isObject(value) || send(OP_TARGET, value) !== undefined)
        return undefined;
    if (isArray(value)) {
        for (let i = 0; i < value.length && i < MAX_LOOK; i++) {
            if (isPromise(ownData(value, i)))
                return '' + i;
        }
        return undefined;
    }
    const proto = getPrototypeOf(value);
    if (proto !== null && proto !== ObjectPrototype)
        return undefined;
    const names = keys(value);
    for (let i = 0; i < names.length && i < MAX_LOOK; i++) {
        if (isPromise(ownData(value, names[i])))
            return names[i];
    }
    return undefined;
}

// Never rejects, so that of several failures none is left unheard.
async function outcome(promise) {
    try {
        return { __proto__: null, failed: false, value: await promise };
    } catch (e) {
        return { __proto__: null, failed: true, value: e };
    }
}

async function awaited(value) {
    const copy = isArray(value) ? [] : {}, names = keys(value), under = { __proto__: null };
    for (let i = 0; i < names.length; i++) {
        if (isPromise(ownData(value, names[i])))
            under[i] = outcome(value[names[i]]);
    }
    for (let i = 0; i < names.length; i++) {
        const name = names[i];
        if (under[i] === undefined) {
            const d = getOwnPropertyDescriptor(value, name);
            define(copy, name, d !== undefined && has(d, 'value') ? d.value : value[name], true, true);
            continue;
        }
        const { failed, value: settled } = await under[i];
        if (failed)
            throw settled;
        define(copy, name, settled, true, true);
    }
    if (isArray(value) && copy.length < value.length)
        copy.length = value.length;
    return copy;
}

export function collect(value) {
    const name = firstPromise(value);
    if (name === undefined)
        return value;
    errors().warn(isArray(value)
        ? `The result is a list that holds promises (result[${name}] is one). They were awaited; write return await Promise.all(list).`
        : `The result holds promises (result.${name} is one). They were awaited; write { ${name}: await … }.`);
    return awaited(value);
}
