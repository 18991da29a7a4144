// The prelude of one pass. It runs in a fresh realm before the program and leaves `control`, through which the engine drives the
// pass; `send` is the realm's one way out. src/engine/realm.c calls both; the operation numbers stand there too.
import { deliver } from './calls.js';
import * as clock from './clock.js';
import { decode, encode } from './codec.js';
import { collect } from './collect.js';
import * as console from './console.js';
import { errors, metaJson, warnOfRejections } from './errors.js';
import { helper } from './modules.js';
import * as namespaces from './namespaces.js';
import { cut, define, ErrorFn, global, isObject, PromiseFn } from './primordials.js';
import { OP_RESULT, OP_SETTLED, state } from './state.js';
import * as timers from './timers.js';
import { warnOfUnawaited } from './unawaited.js';
import * as web from './web.js';

let input;

function settle(failed, value) {
    state.outcome = { __proto__: null, failed, value };
    send(OP_SETTLED, failed);
}

// Waits for the program's own promise. Its `constructor` is made our own first: a poisoned one would send the await through the
// program's `then`.
async function run(program) {
    try {
        let value = program(helper(''))(input);
        if (isObject(value) && value instanceof PromiseFn)
            define(value, 'constructor', PromiseFn, false, true);
        value = await value;
        settle(false, isObject(value) ? await collect(value) : value);
    } catch (e) {
        settle(true, e);
    }
}

function fail(thrown) {
    const error = errors().errorJson(thrown), fields = errors().fieldsOf(thrown);
    send(OP_RESULT, true, fields.json, fields.marks, metaJson(error));
}

function warn(failed) {
    warnOfRejections();
    warnOfUnawaited();
    if (!failed)
        timers.warnOfRest();
}

function finish() {
    const { failed, value } = state.outcome;
    if (state.hasNotes)
        warn(failed);
    if (failed)
        return fail(value);
    let encoded;
    try {
        encoded = encode(value, 'result', false, 'return data instead');
    } catch (e) {
        return fail(e);
    }
    send(OP_RESULT, false, encoded.json, encoded.marks, metaJson(''));
}

function neverSettles() {
    const e = new ErrorFn('The program waits for a promise that nothing will settle: no call and no timer is outstanding. '
        + 'Look for a new Promise whose resolve is never called, or an await of something that is not a call');
    define(e, 'code', 'never_settles', true, true);
    warnOfRejections();
    fail(e);
}

// What reading the program found, a JSON array of texts or empty, comes before the warnings of the run.
function told(warnings) {
    if (warnings !== '')
        state.warnings = cut(warnings, 1, warnings.length - 1);
}

const operations = [
    namespaces.install,
    (seed, now, json, marks) => {
        state.now = state.start = now;
        state.seed = seed;
        if (json !== '') {
            input = decode(json, marks);
            define(global, 'input', input, false, true);
        }
    },
    (program, source, map, warnings) => {
        state.source = source;
        state.map = map;
        told(warnings);
        run(program);
    },
    (id, failed, execute, json, marks, now, draw) => {
        state.now = now;
        state.draw = draw;
        state.isSeeded = false;
        deliver(id, failed, execute, json, marks);
    },
    finish,
    neverSettles,
    (thrown, source, map, warnings) => {
        state.source = source;
        state.map = map;
        told(warnings);
        fail(thrown);
    },
];

// What would run code of a finished pass or ask for threads. WebAssembly and SharedArrayBuffer are switched off in the VM
// (src/engine/process.c). Atomics is overwritten: deleting a name of the engine's own table makes it build all of the table, 60 us.
delete global.WeakRef;
delete global.FinalizationRegistry;
global.Atomics = undefined;
clock.install();
console.install();
timers.install();
web.install();

control = (op, a, b, c, d, e, f, g) => {
    // The engine reports a rejection without handler as (promise, reason).
    if (typeof op !== 'number')
        return errors().unhandled(op, a);
    return operations[op](a, b, c, d, e, f, g);
};
