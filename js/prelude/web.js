// The web interfaces (js/web), made at the first use of their names. They run late, in a realm that the program may have changed, and
// use the language as the program does: what a poisoned intrinsic does to them, it does to the program's own objects. So they
// get nothing that the program has not got itself: the standing clock, timers, warnings, calls of the connector "fetch".
import { call, giveUp, timer } from './calls.js';
import { cryptography } from './clock.js';
import { tellRefusals } from './codec.js';
import { errors } from './errors.js';
import { tellShape } from './format.js';
import { lazy } from './lazy.js';
import { once } from './primordials.js';
import { OP_LOAD, state, TOOL } from './state.js';
import { BASIC, ENCODING, EVENTS, HTTP, STREAMS, URLS } from '../web/scripts.js';

// What scripts have said of their classes: each function gives {name, data, advice} or undefined, or a clone.
const described = { __proto__: null, n: 0 }, clones = { __proto__: null, n: 0 };

// A class of theirs may have been changed so that it throws when asked: then it is an object like any other.
function describe(value) {
    try {
        for (let i = 0; i < described.n; i++) {
            const out = described[i](value);
            if (out !== undefined)
                return out;
        }
    } catch {
        return undefined;
    }
    return undefined;
}

const kit = once(() => ({
    __proto__: null,
    load,
    now: () => state.now,
    start: () => state.start,
    timer: (ms, run) => timer(ms, run),
    warn: (what, thrown) => errors().warn(`${what} ${errors().errorLine(thrown)}`),
    mayFetch: () => state.fetch,
    noNetwork: () => errors().noNetwork()
        + ' Whoever runs this sandbox can allow hosts: "codemode": { "fetch": ["api.example.com"] } in its configuration.',
    // Of this connector only: the rest of call() is the prelude's own. {answer, giveUp}: the promise, and what ends the call at the host.
    fetch(method, args) {
        let id = 0;
        const answer = call(TOOL, 'fetch', method, args, 'fetch argument', null, issued => { id = issued; });
        return { __proto__: null, answer, giveUp: () => giveUp(id) };
    },
    randomUUID: () => cryptography().randomUUID(),
    describe(test) {
        if (described.n === 0) {
            tellShape(value => {
                const out = describe(value);
                return out === undefined || out.data === undefined ? undefined : { __proto__: null, name: out.name, value: out.data };
            });
            tellRefusals(describe);
        }
        described[described.n++] = test;
    },
    nameOf(value) {
        const out = describe(value);
        return out === undefined ? undefined : 'a ' + out.name;
    },
    clones(make) {
        clones[clones.n++] = make;
    },
    clone(value) {
        for (let i = 0; i < clones.n; i++) {
            const copy = clones[i](value);
            if (copy !== undefined)
                return copy;
        }
        return undefined;
    },
}));

const loaded = { __proto__: null };

export function load(script) {
    return loaded[script] || (loaded[script] = send(OP_LOAD, script)(kit()));
}

export function install() {
    const from = (script, name) => lazy(name, () => load(script)[name]);
    from(BASIC, 'DOMException');
    from(BASIC, 'atob');
    from(BASIC, 'btoa');
    from(BASIC, 'structuredClone');
    from(EVENTS, 'Event');
    from(EVENTS, 'CustomEvent');
    from(EVENTS, 'EventTarget');
    from(EVENTS, 'AbortController');
    from(EVENTS, 'AbortSignal');
    from(ENCODING, 'TextEncoder');
    from(ENCODING, 'TextDecoder');
    from(URLS, 'URL');
    from(URLS, 'URLSearchParams');
    from(HTTP, 'Blob');
    from(HTTP, 'File');
    from(HTTP, 'FormData');
    from(HTTP, 'Headers');
    from(HTTP, 'Request');
    from(HTTP, 'Response');
    from(HTTP, 'fetch');
    from(STREAMS, 'ReadableStream');
    from(STREAMS, 'WritableStream');
    from(STREAMS, 'TransformStream');
}
