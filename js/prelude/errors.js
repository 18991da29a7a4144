// How a failure is told: the meta of DONE. Whatever was thrown becomes a name, a message that a model can act on, and a place.
import { cut, find, isArray, isError, isObject, once, ownData, stringify, text, wellFormed } from './primordials.js';
import { codec } from './codec.js';
import { formatter } from './format.js';
import { places } from './position.js';
import { state } from './state.js';

const MAX_MESSAGE = 16000;
const MAX_WARNINGS = 20;

export const errors = once(() => {
    const { format } = formatter(), { placeOf, placeJson } = places();

    const network = names => `There is no network in this sandbox. Call a connector${names ? ': ' + names : ''}; `
        + 'codemode.search("…") finds methods.';
    const modules = names => `There are no modules here: no require, no npm packages, no node: modules. Call a connector${names ? ': ' + names : ''}, `
        + 'or use what the language itself has.';
    const system = () => 'This sandbox has no files, no processes and no environment.';

    // Globals of other runtimes that models reach for, and what to do instead.
    const hints = {
        __proto__: null,
        fetch: network, XMLHttpRequest: network, WebSocket: network, EventSource: network, axios: network, http: network, https: network,
        require: modules, module: modules, exports: modules, importScripts: modules,
        process: system, fs: system, path: system, os: system, child_process: system, Deno: system, Bun: system, __dirname: system,
        __filename: system,
        Buffer: () => 'Use Uint8Array, with toBase64() and Uint8Array.fromBase64(), for bytes.',
        window: () => 'There is no page here; globalThis is the global object.',
        document: () => 'There is no page here.',
        self: () => 'globalThis is the global object.',
        global: () => 'globalThis is the global object.',
    };

    const noNetwork = () => network(state.names);

    function globalNames() {
        return (state.names ? state.names + ', ' : '') + 'codemode, console, setTimeout, clearTimeout, setInterval, clearInterval, '
            + 'queueMicrotask, and what the language itself has (Promise, JSON, Math, Date, Intl, …)';
    }

    function undeclared(message) {
        const lead = "Can't find variable: ";
        if (find(message, lead, 0) !== 0)
            return message;
        const name = cut(message, lead.length), hint = hints[name];
        return `${name} is not defined. ${hint ? hint(state.names) + ' ' : ''}Globals here: ${globalNames()}.`;
    }

    function inner(error) {
        const list = ownData(error, 'errors');
        if (!isArray(list))
            return '';
        let out = '';
        for (let i = 0, n = +list.length; i < n && i < 5; i++) {
            const e = list[i];
            out += (i ? '; ' : '') + (isError(e) ? text(e.message) : format(e));
        }
        return out;
    }

    // What an error without name and message of its own was made as.
    function className(e) {
        try {
            const { name } = e.constructor;
            return typeof name === 'string' && name !== '' ? cut(name, 0, 80) : 'Error';
        } catch {
            return 'Error';
        }
    }

    function describe(thrown) {
        const out = { __proto__: null, name: 'Error', message: '', code: undefined };
        if (isError(thrown)) {
            out.name = text(thrown.name) || 'Error';
            out.message = text(thrown.message);
            if (out.name === 'ReferenceError')
                out.message = undeclared(out.message);
            const causes = inner(thrown);
            if (causes)
                out.message += (out.message ? ': ' : 'All promises were rejected: ') + causes;
            if (out.message === '')
                out.message = `${out.name === 'Error' ? className(thrown) : out.name} without a message`;
            out.code = thrown.code;
        } else if (isObject(thrown)) {
            const { message, name, code } = thrown;
            if (typeof name === 'string' && name !== '')
                out.name = name;
            out.message = typeof message === 'string' && message !== '' ? message : 'The program threw ' + format(thrown);
            out.code = code;
        } else if (typeof thrown === 'string' && thrown !== '') {
            out.message = thrown;
        } else {
            out.message = `The program threw ${thrown === '' ? 'an empty text' : format(thrown)}; throw an Error with a message instead`;
        }
        return out;
    }

    function safeDescribe(thrown) {
        try {
            return describe(thrown);
        } catch {
            return { __proto__: null, name: 'Error', message: 'The program threw an object that cannot be read', code: undefined };
        }
    }

    // What it is and where, with the engine's own words made better where they came as they are.
    function told(thrown) {
        const d = safeDescribe(thrown), place = isObject(thrown) && isError(thrown) ? placeOf(thrown) : null;
        if (place !== null && typeof place.message === 'string' && d.message === ownData(thrown, 'message'))
            d.message = place.message;
        return { __proto__: null, d, place };
    }

    // Made well-formed last: a cut can leave half of a surrogate pair, and the host takes no such report.
    const quoted = s => stringify(wellFormed(s.length > MAX_MESSAGE ? cut(s, 0, MAX_MESSAGE) + '…' : s));

    // The JSON of meta.error.
    function errorJson(thrown) {
        const { d, place } = told(thrown);
        let out = '{"name":' + quoted(d.name) + ',"message":' + quoted(d.message);
        if (typeof d.code === 'string' || typeof d.code === 'number')
            out += ',"code":' + quoted('' + d.code);
        return out + (place === null ? '' : ',' + placeJson(place)) + '}';
    }

    // What it has besides, for the reader: {json, marks}. Nothing where it is no error and no object of fields.
    function fieldsOf(thrown) {
        try {
            if (isObject(thrown) && !isArray(thrown))
                return codec().encodeFields(thrown);
        } catch {
            // A proxy that will not tell its keys has no fields to tell.
        }
        return { __proto__: null, json: '', marks: '' };
    }

    // One line: "TypeError: x is not a function (line 3)".
    function errorLine(thrown) {
        const { d, place } = told(thrown);
        return d.name + ': ' + d.message + (place === null ? '' : ` (line ${place.line})`);
    }

    function warn(message) {
        if (state.nWarnings++ < MAX_WARNINGS)
            state.warnings += (state.warnings === '' ? '' : ',') + quoted(message);
    }

    return { __proto__: null, errorJson, errorLine, fieldsOf, noNetwork, warn };
});

export function metaJson(error) {
    let out = error === '' ? '' : '"error":' + error;
    if (state.warnings !== '')
        out += (out ? ',' : '') + '"warnings":[' + state.warnings + ']';
    return '{' + out + '}';
}
