// What an import may name, and what that is here. A connector and "codemode" are globals: importing them gives the global. Of the
// modules of other runtimes there are those whose exports are globals here as well, or are said in a line.
import { binding } from './binding.js';

const same = names => Object.fromEntries(names.map(name => [name, name]));
const timers = same(['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval']);

const builtins = {
    __proto__: null,
    url: same(['URL', 'URLSearchParams']),
    util: same(['TextEncoder', 'TextDecoder']),
    buffer: same(['Blob', 'atob', 'btoa']),
    perf_hooks: same(['performance']),
    timers,
    'timers/promises': { setTimeout: '((ms, value) => new Promise(resolve => setTimeout(resolve, ms, value)))' },
    crypto: { randomUUID: 'crypto.randomUUID', getRandomValues: 'crypto.getRandomValues', webcrypto: 'crypto', subtle: 'crypto.subtle' },
    console: { default: 'console' },
    'node-fetch': { default: 'fetch', ...same(['Headers', 'FormData']) },
    undici: same(['fetch', 'Headers', 'FormData']),
};

const plain = name => name.replace(/^\.\//, '');
const identifier = name => name.replace(/[^A-Za-z0-9_$]/g, '_');

// {kind: 'global', name} | {kind: 'module', name} | {kind: 'builtin', exports} or null.
export function resolve(specifier) {
    const { connectors, modules } = binding(), name = plain(specifier);
    for (const module of [specifier, name, name + '.js', name + '.mjs']) {
        if (modules.has(module))
            return { kind: 'module', name: module };
    }
    const global = name.replace(/^codemode\//, '');
    if (name === 'codemode')
        return { kind: 'global', name };
    if (connectors.includes(global) || connectors.includes(identifier(global)))
        return { kind: 'global', name: connectors.includes(global) ? global : identifier(global) };
    const exports = builtins[name.replace(/^node:/, '')];
    return exports === undefined ? null : { kind: 'builtin', name, exports };
}

// What can be imported, for a message.
export function known() {
    const { connectors, modules } = binding();
    const names = [...connectors, 'codemode'].join(', ');
    return (modules.size > 0 ? `Modules here: ${[...modules.keys()].join(', ')}. ` : '')
        + `Connectors are globals and need no import: ${names}. `
        + 'What the language and the web have (Promise, JSON, Math, Date, Intl, URL, …) and console are globals too';
}
