// Connectors as globals. Each is a frozen proxy: its own names are the methods the host listed; any other name gives a function too,
// whose call the host refuses with "did you mean". Names that the language itself asks for (then, toJSON, ...) are absent, so that
// `await github` or `JSON.stringify(github)` calls nothing.
import { call } from './calls.js';
import { namespaces } from './codec.js';
import { cut, define, freeze, global, keys, ObjectPrototype, parse, ProxyFn, reject, TypeErrorFn, wellFormed } from './primordials.js';
import { DESCRIBE, SEARCH, state, STEP, TOOL } from './state.js';

const never = { __proto__: null, then: 1, catch: 1, finally: 1, toJSON: 1 };

function tooMany(path, n) {
    return new TypeErrorFn(`${path} takes one argument, an object; got ${n}. Write ${path}({ … }), and in a callback `
        + `x => ${path}({ … }) instead of passing ${path} itself`);
}

function makeMethod(connector, method) {
    const path = connector + '.' + method;
    const fn = function (args) {
        return arguments.length > 1 ? reject(tooMany(path, arguments.length))
            : call(TOOL, connector, method, args, path + ' argument', null);
    };
    define(fn, 'name', method, false, false);
    return freeze(fn);
}

function readOnly(name) {
    return () => {
        throw new TypeErrorFn(`${name} is read-only: its methods can be called, not changed`);
    };
}

function makeNamespace(name, methods, lookUp) {
    const own = { __proto__: null }, made = { __proto__: null };
    for (let i = 0; methods !== null && i < methods.length; i++)
        own[methods[i]] = 1;
    const refuse = readOnly(name);
    const get = (_, key) => {
        if (typeof key !== 'string' || never[key] || (!own[key] && key in ObjectPrototype))
            return undefined;
        return made[key] || (made[key] = lookUp(name, key));
    };
    return new ProxyFn({ __proto__: null }, {
        __proto__: null,
        get,
        has: (_, key) => typeof key === 'string' && own[key] === 1,
        ownKeys: () => keys(own),
        getOwnPropertyDescriptor: (_, key) => (typeof key === 'string' && own[key]
            ? { __proto__: null, value: get(_, key), writable: false, enumerable: true, configurable: true } : undefined),
        set: refuse, defineProperty: refuse, deleteProperty: refuse, setPrototypeOf: refuse, preventExtensions: refuse,
    });
}

const sdk = {
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
};

function sdkMember(_, key) {
    const fn = sdk[key];
    return freeze(fn || (() => reject(new TypeErrorFn(`codemode.${cut(key, 0, 80)} does not exist. codemode has: `
        + `search(query), describe(path), step(name, fn). Connectors here: ${state.names || 'none'}`))));
}

function publish(name, namespace) {
    define(global, name, namespace, true, false);
    namespaces[namespaces.count++] = namespace;
}

export function install(bind) {
    publish('codemode', makeNamespace('codemode', keys(sdk), sdkMember));
    const { connectors } = bind === '' ? { connectors: [] } : parse(bind);
    for (let i = 0; i < connectors.length; i++) {
        const { name, methods } = connectors[i];
        publish(name, makeNamespace(name, methods === undefined ? null : methods, makeMethod));
        state.names += (state.names ? ', ' : '') + name;
    }
}
