// Modules of the configuration, and the helper through which a program that was rewritten (js/service/imports.js and throws.js) reaches
// them. A module runs once a pass, at its first import and in this realm, and what it exports is an object that cannot be changed.
import { globalNamed } from './namespaces.js';
import {
    apply, cut, define, ErrorFn, freeze, has, isError, issued, keys, PromiseFn, stringify, text, TypeErrorFn, weakSet,
} from './primordials.js';
import { here } from './position.js';
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

export const helper = from => freeze({ __proto__: null, at, seal, load: (specifier, wanted) => load(from, specifier, wanted) });
