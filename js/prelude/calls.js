// Calls to the host: numbered when issued, settled by deliveries, one at a time.
import { decode, encode, encodeThrown } from './codec.js';
import { define, ErrorFn, isError, isObject, own, ownData, PromiseFn, reject } from './primordials.js';
import { here, lineOf, ownStack, places } from './position.js';
import { errors } from './errors.js';
import { revival } from './revive.js';
import { note } from './unawaited.js';
import { snippets } from './snippets.js';
import { OP_CALL, OP_CANCEL, OP_STEP_END, RUN, SEARCH, state, STEP, TIMER, TOOL } from './state.js';

// Unanswered calls by id: {kind, yes, no, stack, run, connector, method}.
const pending = { __proto__: null };

// The step whose function runs: its id, or 0. Outcomes are delivered one at a time and all that they set off has run before the next,
// so what runs now belongs to what its outcome's call belonged to.
let step = 0;

const nothing = () => {};

function issue(kind, connector, method, json, marks, entry, stack) {
    entry.kind = kind;
    entry.stack = stack;
    entry.step = step;
    const id = send(OP_CALL, kind, connector, method, json, marks, stack === null ? undefined : ownStack(stack), step);
    pending[id] = entry;
    return id;
}

const what = (kind, connector, method) => (kind === TOOL ? connector + '.' + method
    : kind === STEP ? `codemode.step("${method}")` : kind === RUN ? `codemode.run("${method}")` : kind === SEARCH ? 'codemode.search' : 'codemode.describe');

// What had been started goes on after the program's failure, but makes no more calls: nobody would learn what became of them.
function refused(kind, connector, method) {
    const line = lineOf(here());
    errors().warnOnce(`${what(kind, connector, method)}${line === 0 ? '' : ` (line ${line})`} was not called: the program had failed already.`);
    return new PromiseFn(nothing);
}

// A call whose answer is a promise. What cannot be encoded rejects it, like any failure of a call. `told` is given the call's id.
export function call(kind, connector, method, value, root, run, told, stack = here()) {
    if (state.outcome !== null && state.outcome.failed)
        return refused(kind, connector, method);
    try {
        const { json, marks } = kind === RUN ? snippets().encodeArguments(method, value) : encode(value, root, true, 'pass data instead');
        const entry = { __proto__: null, kind, yes: null, no: null, stack: null, run, connector, method, isGivenUp: false };
        const promise = new PromiseFn((yes, no) => {
            entry.yes = yes;
            entry.no = no;
        });
        const id = issue(kind, connector, method, json, marks, entry, stack);
        if (told !== undefined)
            told(id);
        return promise;
    } catch (e) {
        return reject(e);
    }
}

export function timer(ms, run) {
    return issue(TIMER, '', '', '' + ms, '', { __proto__: null, kind: TIMER, yes: run, no: run, stack: null, run: null }, null);
}

// Its outcome may be on the way already; then it comes, and moves the clock, but calls nothing.
export function cancelTimer(id) {
    const entry = pending[id];
    entry.yes = entry.no = nothing;
    send(OP_CANCEL, id);
}

// The program wants no answer any more: the host cancels the call and says how it ended, which is recorded and calls nothing.
export function giveUp(id) {
    const entry = pending[id];
    if (entry === undefined)
        return;
    entry.yes = entry.no = nothing;
    entry.isGivenUp = true;
    send(OP_CANCEL, id);
}

// What a failed call rejects with: an Error with the fields that came, placed where the call was issued.
function failure(entry, value) {
    let e = value;
    if (!isObject(value) || !isError(value)) {
        if (entry.kind === STEP)
            return value;
        if (isObject(value) && typeof own(value, 'message') === 'string')
            e = revival().makeError(value);
        else
            e = new ErrorFn(typeof value === 'string' && value !== '' ? value : 'The call failed without a message');
    }
    const { rememberPlace, readStack } = places();
    rememberPlace(e, entry.stack);
    if (entry.stack !== null) {
        define(entry.stack, 'what', what(entry.kind, entry.connector, entry.method), false, true);
        // What fails after the program's end is told by its note.
        define(entry.stack, 'isTold', state.outcome !== null, false, true);
    }
    const place = entry.stack === null ? null : readStack(ownStack(entry.stack));
    define(e, 'stack', place === null ? '' : place.stack, false, true);
    return e;
}

// The function of a step or a snippet without record runs now; its promise settles with the recorded form, which comes as a delivery.
async function runStep(id, run, root) {
    let failed = false, encoded;
    try {
        try {
            encoded = encode(await run(), root, false, 'return data instead');
        } catch (e) {
            failed = true;
            encoded = encodeThrown(e, 'step error');
        }
    } catch (e) {
        // What was thrown last is the codec's own, unless a getter of the program threw it: then its message is not asked for.
        const said = isError(e) ? ownData(e, 'message') : undefined;
        encoded = encode(new ErrorFn(typeof said === 'string' ? said : 'The step threw a value that cannot be recorded'), 'step error', true);
    }
    send(OP_STEP_END, id, failed, encoded.json, encoded.marks);
}

function labelOf(entry) {
    const line = entry.stack === null ? 0 : lineOf(entry.stack);
    return what(entry.kind, entry.connector, entry.method) + (line === 0 ? '' : ` (line ${line})`);
}

const noteEnd = (entry, failed, value) => note(labelOf(entry), failed ? errors().messageOf(value) : '');

// Whoever catches the reason of a signal may think that nothing has happened.
function endGivenUp(entry, failed, json, marks) {
    if (failed && own(decode(json, marks), 'code') === 'unknown')
        errors().warnOnce(labelOf(entry) + ' was aborted after it had been sent: it may have taken effect.');
}

export function deliver(id, failed, execute, json, marks) {
    const entry = pending[id];
    if (execute) {
        step = id;
        if (entry.kind === RUN)
            runStep(id, () => snippets().run(entry.run, json, marks), 'snippet result');
        else
            runStep(id, entry.run, 'step result');
        return;
    }
    step = entry.step;
    delete pending[id];
    // What decoding throws is the doing of a program that replaced a class, or of memory that ran out: it fails this one call.
    let value;
    try {
        if (entry.isGivenUp) {
            endGivenUp(entry, failed, json, marks);
            return;
        }
        value = decode(json, marks);
        if (failed)
            value = failure(entry, value);
    } catch (e) {
        entry.no(e);
        return;
    }
    if (state.outcome !== null && (entry.kind === TOOL || entry.kind === STEP || entry.kind === RUN))
        noteEnd(entry, failed, value);
    if (failed)
        entry.no(value);
    else
        entry.yes(value);
}
