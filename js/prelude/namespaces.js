// Connectors as globals. Each is a frozen proxy: its own names are the methods the host listed; any other name gives a function too,
// whose call the host refuses with "did you mean". Names that the language itself asks for (then, toJSON, ...) are absent, so that
// `await github` or `JSON.stringify(github)` calls nothing.
import { call } from './calls.js';
import { tellNamespaces } from './codec.js';
import { cut, define, ErrorFn, freeze, global, keys, once, parse, ProxyFn, reject, TypeErrorFn, wellFormed } from './primordials.js';
import { DESCRIBE, RUN, SEARCH, state, STEP, TOOL } from './state.js';

function tooMany(path, n) {
    return new TypeErrorFn(`${path} takes one argument, an object; got ${n}. Write ${path}({ … }), and in a callback `
        + `x => ${path}({ … }) instead of passing ${path} itself`);
}

function makeMethod(connector, key) {
    // Half of a surrogate pair would end the name where it crosses, and leave another one.
    const method = wellFormed(key);
    const path = connector + '.' + method;
    const root = path + ' argument';
    // Neither an own `this` nor a prototype nor a place to leave something in. The stack is taken here: each frame of ours in it would
    // have its place worked out with it.
    const fn = (...args) => (args.length > 1 ? reject(tooMany(path, args.length))
        : call(TOOL, connector, method, args.length ? args[0] : undefined, root, null, undefined, new ErrorFn()));
    define(fn, 'name', method, false, false);
    return freeze(fn);
}

const sdk = once(() => ({
    __proto__: null,
    search: query => call(SEARCH, '', '', query, 'codemode.search argument', null),
    describe: path => call(DESCRIBE, '', '', path, 'codemode.describe argument', null),
    step(name, fn) {
        if (typeof name !== 'string' || name === '')
            return reject(new TypeErrorFn('codemode.step takes a name first: codemode.step("fetch report", async () => …)'));
        if (typeof fn !== 'function')
            return reject(new TypeErrorFn(`codemode.step("${cut(name, 0, 80)}", fn) takes a function that returns the value to record`));
        return call(STEP, '', wellFormed(name), undefined, 'codemode.step', fn);
    },
    run(...args) {
        const name = args[0];
        if (typeof name !== 'string' || name === '')
            return reject(new TypeErrorFn('codemode.run takes the name of a saved snippet first: codemode.run("weekly_report", { days: 7 }). '
                + 'codemode.search finds snippets, too'));
        if (args.length > 2)
            return reject(new TypeErrorFn(`codemode.run takes a name and one input; got ${args.length} arguments. Pass several values as one object`));
        return call(RUN, '', wellFormed(name), args[1], '', wellFormed(name));
    },
}));

const sdkMember = key => freeze(sdk()[key] || (() => reject(new TypeErrorFn(`codemode.${cut(key, 0, 80)} does not exist. codemode has: `
    + `search(query), describe(path), step(name, fn), run(name, input). Connectors here: ${state.names || 'none'}`))));

// What a namespace is made of stands in its target: {name, methods, own, made}; `own` by name, `made` the functions made so far.
const ownOf = target => {
    if (target.own === null) {
        const { methods } = target, own = { __proto__: null };
        for (let i = 0; methods !== null && i < methods.length; i++)
            own[methods[i]] = 1;
        target.own = own;
    }
    return target.own;
};

// What an import takes from it: `default` is all of it, and codemode has the connectors, as in import { github } from "codemode".
function importedMember(name, target, key) {
    if (key === 'default' && !ownOf(target)[key])
        return byName[name];
    return name === 'codemode' && !ownOf(target)[key] ? byName[key] : undefined;
}

// What the language itself asks an object for is known by its name, and not by what the program has made of Object.prototype.
function member(target, key) {
    if (typeof key !== 'string')
        return undefined;
    switch (key) {
    case 'then': case 'catch': case 'finally': case 'toJSON':
        return undefined;
    case 'constructor': case 'toString': case 'toLocaleString': case 'valueOf':
    case 'hasOwnProperty': case 'isPrototypeOf': case 'propertyIsEnumerable': case '__proto__': case '__defineGetter__':
    case '__defineSetter__': case '__lookupGetter__': case '__lookupSetter__':
        if (!ownOf(target)[key])
            return undefined;
    }
    const { name, made } = target;
    return made[key] || (made[key] = (name === 'codemode' || key === 'default' ? importedMember(name, target, key) : undefined)
        || (name === 'codemode' ? sdkMember(key) : makeMethod(name, key)));
}

function readOnly(target) {
    throw new TypeErrorFn(`${target.name} is read-only: its methods can be called, not changed`);
}

const handler = {
    __proto__: null,
    get: member,
    has: (target, key) => typeof key === 'string' && ownOf(target)[key] === 1,
    ownKeys: target => keys(ownOf(target)),
    getOwnPropertyDescriptor: (target, key) => (typeof key === 'string' && ownOf(target)[key]
        ? { __proto__: null, value: member(target, key), writable: false, enumerable: true, configurable: true } : undefined),
    set: readOnly, defineProperty: readOnly, deleteProperty: readOnly, setPrototypeOf: readOnly, preventExtensions: readOnly,
};

const published = { __proto__: null }, byName = { __proto__: null };
let nPublished = 0;

// A connector, or codemode, by its name: what importing it gives.
export const globalNamed = name => byName[name];

function publish(name, methods) {
    const namespace = new ProxyFn({ __proto__: null, name, methods, own: null, made: { __proto__: null } }, handler);
    define(global, name, namespace, true, false);
    published[nPublished++] = byName[name] = namespace;
}

export function isNamespace(value) {
    for (let i = 0; i < nPublished; i++) {
        if (published[i] === value)
            return true;
    }
    return false;
}

// Their texts stay where they are evaluated from; here it is enough to know their names.
function installModules(modules) {
    const names = keys(modules);
    for (let i = 0; i < names.length; i++) {
        define(state.modules, names[i], true, true, false);
        state.moduleNames += (state.moduleNames ? ', ' : '') + names[i];
    }
}

export function install(bind) {
    tellNamespaces(isNamespace);
    publish('codemode', ['search', 'describe', 'step', 'run']);
    if (bind === '')
        return;
    const { connectors, fetch, modules } = parse(bind);
    state.fetch = fetch === true;
    if (modules !== undefined)
        installModules(modules);
    for (let i = 0; i < connectors.length; i++) {
        const { name, methods } = connectors[i];
        publish(name, methods === undefined ? null : methods);
        state.names += (state.names ? ', ' : '') + name;
    }
}
