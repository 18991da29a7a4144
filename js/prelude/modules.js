// Modules of the configuration, and the helper through which a program that was rewritten (js/service/imports.js and throws.js) reaches
// them. A module runs once a pass, at its first import and in this realm, and what it exports is an object that cannot be changed.
import { globalNamed } from './namespaces.js';
import {
    apply, cut, define, ErrorFn, freeze, getPrototypeOf, has, isError, isObject, issued, keys, ownData, PromiseFn, stringify, text, TypeErrorFn,
    weakGet, weakSet,
} from './primordials.js';
import { errors } from './errors.js';
import { here, ownStack } from './position.js';
import { OP_MODULE, state } from './state.js';

// By name: the promise of a module that is loaded or being loaded, and which module one that is not ready waits for.
const loaded = { __proto__: null }, waiting = { __proto__: null };

const own = (list, use) => {
    for (let i = 0; i < list.length; i++)
        use(list[i]);
};

function nameOf(specifier) {
    const name = text(specifier), short = cut(name, 0, 2) === './' ? cut(name, 2) : name;
    return has(state.modules, name) ? name : short;
}

const unknown = name => new TypeErrorFn(`There is no module ${stringify(cut(name, 0, 80))}. `
    + (state.moduleNames ? `Modules here: ${state.moduleNames}. ` : '')
    + `Connectors are globals and need no import${state.names ? ': ' + state.names : ''}.`);

// The modules from `name` on, each waiting for the next, when they come back to `from`; '' otherwise.
function circle(name, from) {
    let chain = from;
    for (let next = name; next !== undefined; next = waiting[next]) {
        chain += ' → ' + next;
        if (next === from)
            return chain;
    }
    return '';
}

async function evaluate(name) {
    const made = send(OP_MODULE, name);
    if (typeof made === 'string')
        throw new ErrorFn(made);
    return await made(helper(name))();
}

function check(name, exports, wanted) {
    own(wanted, key => {
        if (!has(exports, key))
            throw new TypeErrorFn(`The module ${name} exports no ${key}; it exports ${names(exports) || 'nothing'}`);
    });
}

function names(object) {
    let out = '';
    own(keys(object), key => {
        out += (out ? ', ' : '') + key;
    });
    return out;
}

async function load(from, specifier, wanted) {
    const name = nameOf(specifier);
    if (!has(state.modules, name)) {
        const global = globalNamed(name);
        if (global === undefined)
            throw unknown(name);
        return global;
    }
    const chain = from === '' ? '' : circle(name, from);
    if (chain !== '')
        throw new ErrorFn(`Modules that import each other cannot be loaded: ${chain}`);
    if (from !== '')
        waiting[from] = name;
    try {
        let promise = loaded[name];
        if (promise === undefined) {
            promise = loaded[name] = evaluate(name);
            // An await asks for it, and the program may have changed what it would inherit.
            define(promise, 'constructor', PromiseFn, false, false);
        }
        const exports = await promise;
        if (wanted !== undefined)
            check(name, exports, wanted);
        return exports;
    } finally {
        delete waiting[from];
    }
}

// What is thrown and is no Error has no stack: the place of the throw is kept, for a primitive that of the latest.
function at(value) {
    if (isError(value))
        return value;
    const stack = here();
    if ((typeof value === 'object' && value !== null) || typeof value === 'function')
        apply(weakSet, issued, [value, stack]);
    else
        state.thrown = { __proto__: null, value, stack };
    return value;
}

const MAX_CAUGHT = 100;
let nCaught = 0;

// What the program catches and may show: an error of the engine's own gets the words in which it would be told. It is looked for in the
// text each time, which is too slow to go on with for ever.
function caught(e) {
    try {
        if (nCaught === MAX_CAUGHT || !isObject(e) || !isError(e) || getPrototypeOf(e) === ErrorFn.prototype || apply(weakGet, issued, [e]) !== undefined)
            return;
        const said = ownData(e, 'message');
        if (typeof said !== 'string' || said === '')
            return;
        nCaught++;
        const message = errors().better(e, said);
        if (message === undefined)
            return;
        apply(weakSet, issued, [e, { __proto__: null, stack: ownStack(e), said }]);
        define(e, 'message', message, false, true);
    } catch {
        // With no stack left for it, or an error that cannot be changed, the words stay.
    }
}

// A module's own exports win over those it passes on, which have no default.
function seal(exports, stars) {
    own(stars, star => {
        own(keys(star), key => {
            if (key !== 'default' && !has(exports, key))
                define(exports, key, star[key], true, false);
        });
    });
    return freeze(exports);
}

export const helper = from => freeze({ __proto__: null, at, caught, seal, load: (specifier, wanted) => load(from, specifier, wanted) });
