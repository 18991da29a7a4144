// Names that a program uses and that do not exist here: what to write instead.
import { charCode, cut, find, has, once } from './primordials.js';

export const absent = once(() => {
    const network = names => `There is no network in this sandbox. Call a connector${names ? ': ' + names : ''}; `
        + 'codemode.search("…") finds methods.';
    const modules = names => 'There are no modules here: no require, no npm packages, no node: modules. '
        + `Call a connector${names ? ': ' + names : ''}, or use what the language itself has.`;
    const exported = () => 'A program has no exports: end it with "return value", or write it as one function, async () => { … }.';
    const system = () => 'This sandbox has no files, no processes and no environment. What a program needs comes as its input or from connectors.';
    const page = () => 'There is no page and no browser here; globalThis is the global object.';
    const dialog = () => 'Nobody answers while a program runs. Return what should be shown or asked; console.log writes to the log.';
    const storage = () => 'Nothing is kept between runs. Return what is needed later, or keep it by a connector.';
    const library = instead => () => `There are no libraries here. ${instead}`;
    const threads = () => 'There are no threads and no shared memory here; await Promise.all([…]) makes calls at the same time.';
    const memory = () => 'Whether an object was collected cannot be seen here; use a Map or a WeakMap.';
    const python = instead => () => `Programs are JavaScript: write ${instead}.`;
    const tools = () => 'Connectors are globals of their own: name.method({ … }).';
    const sleep = () => 'Write await new Promise(done => setTimeout(done, milliseconds)).';
    const log = () => 'Write console.log(…), and return the result.';

    const lodash = library('Arrays, objects and strings have most of it: map, filter, toSorted, Object.groupBy, structuredClone, new Set(list).');
    const dates = library('Use Date and Intl.DateTimeFormat.');

    const table = {
        __proto__: null,
        XMLHttpRequest: network, WebSocket: network, EventSource: network, axios: network, http: network, https: network, net: network,
        got: network, superagent: network, WebTransport: network, RTCPeerConnection: network,
        require: modules, importScripts: modules, define: modules, module: exported, exports: exported,
        process: system, fs: system, path: system, os: system, child_process: system, Deno: system, Bun: system, __dirname: system,
        __filename: system, env: system, argv: system,
        Buffer: () => 'Use Uint8Array, with toBase64() and Uint8Array.fromBase64(), for bytes, and TextEncoder and TextDecoder for text.',
        window: page, document: page, location: page, history: page, navigator: page, frames: page, parent: page, screen: page,
        HTMLElement: page, DOMParser: page, requestAnimationFrame: page, getComputedStyle: page,
        self: () => 'globalThis is the global object.',
        global: () => 'globalThis is the global object.',
        alert: dialog, confirm: dialog, prompt: dialog, readline: dialog,
        localStorage: storage, sessionStorage: storage, indexedDB: storage, caches: storage, cookieStore: storage,
        $: page, jQuery: page, _: lodash, lodash, R: lodash, moment: dates, dayjs: dates, luxon: dates,
        z: library('Check what you are given with typeof, Array.isArray and in.'),
        uuid: library('crypto.randomUUID() gives one.'), uuidv4: library('crypto.randomUUID() gives one.'),
        nanoid: library('crypto.randomUUID() gives one.'), cheerio: library('Take texts apart with regular expressions.'),
        chalk: library('console.log writes plain text.'), assert: library('Write if (!ok) throw new Error("…").'),
        util: library('console.log shows any value; JSON.stringify makes text.'),
        WeakRef: memory, FinalizationRegistry: memory, Worker: threads, SharedWorker: threads, SharedArrayBuffer: threads, Atomics: threads,
        MessageChannel: threads, BroadcastChannel: threads, postMessage: threads,
        WebAssembly: () => 'There is no WebAssembly here; write it in JavaScript.',
        None: python('null'), True: python('true'), False: python('false'), len: python('list.length'), str: python('String(value)'),
        int: python('Number.parseInt(text)'), float: python('Number(text)'), range: python('Array.from({ length: n }, (_, i) => i)'),
        dict: python('{ … }'), enumerate: python('list.entries()'), sorted: python('list.toSorted()'), elif: python('else if'),
        print: log, log, println: log, echo: log,
        sleep, delay: sleep, wait: sleep,
        Temporal: () => 'Use Date and Intl.DateTimeFormat.',
        addEventListener: () => 'Nothing sends events here: a program runs once and returns a value. new EventTarget() makes a target of its own.',
        connectors: tools, ctx: tools, services: tools, tools, tool: tools, mcp: tools, api: tools, client: tools, sdk: tools, callTool: tools, call_tool: tools, invoke: tools,
        input: () => 'This run was given no input (run with --input JSON).',
        args: () => 'A program gets what it is given as input: async (input) => …, or the global input.',
    };

    const ours = 'codemode, console, crypto, performance, setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, queueMicrotask, JSON, Math, '
        + 'Promise, Object, Array, String, Number, Boolean, BigInt, Symbol, Map, Set, WeakMap, WeakSet, Date, RegExp, Error, TypeError, RangeError, '
        + 'Uint8Array, Intl, Reflect, Proxy, isNaN, parseInt, parseFloat, encodeURIComponent, decodeURIComponent, structuredClone, URL, URLSearchParams, '
        + 'TextEncoder, TextDecoder, AbortController, fetch, undefined';

    const lower = c => (c >= 65 && c <= 90 ? c | 32 : c);

    // How many changes lead from one name to the other, a swap of neighbours being one; more than `most` is not counted on.
    function distance(a, b, most) {
        if (a.length - b.length > most || b.length - a.length > most)
            return most + 1;
        let above = { __proto__: null }, row = { __proto__: null }, before = null;
        for (let k = 0; k <= b.length; k++)
            row[k] = k;
        for (let i = 1; i <= a.length; i++) {
            before = above;
            above = row;
            row = { __proto__: null, 0: i };
            for (let k = 1; k <= b.length; k++) {
                const same = lower(charCode(a, i - 1)) === lower(charCode(b, k - 1));
                let n = above[k - 1] + (same ? 0 : 1);
                n = above[k] + 1 < n ? above[k] + 1 : n;
                n = row[k - 1] + 1 < n ? row[k - 1] + 1 : n;
                if (i > 1 && k > 1 && charCode(a, i - 1) === charCode(b, k - 2) && charCode(a, i - 2) === charCode(b, k - 1) && before[k - 2] + 1 < n)
                    n = before[k - 2] + 1;
                row[k] = n;
            }
        }
        return row[b.length];
    }

    // The name of a list ("a, b, c") that this one was most likely meant to be, or ''.
    function nearest(name, list) {
        let best = '', least = name.length < 3 ? 0 : name.length < 6 ? 1 : name.length < 9 ? 2 : 3;
        for (let at = 0, next; at < list.length; at = next + 2) {
            next = find(list, ', ', at);
            if (next < 0)
                next = list.length;
            const other = cut(list, at, next), n = name.length > 60 || other.length > 60 ? 99 : distance(name, other, least);
            if (n < least || (n === least && best === '' && n < other.length)) {
                best = other;
                least = n;
            }
        }
        return best;
    }

    // What to say of a name that is not defined; `names` are the connectors.
    function advice(name, names) {
        if (has(table, name))
            return table[name](names) + ' ';
        const meant = nearest(name, names);
        if (meant !== '')
            return `Did you mean the connector ${meant}? `;
        const other = nearest(name, ours);
        return other === '' ? '' : `Did you mean ${other}? `;
    }

    return { __proto__: null, advice, network };
});
