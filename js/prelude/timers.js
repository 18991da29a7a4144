// setTimeout and its kin by host calls, so that a replay sees the same order; queueMicrotask.
import { cancelTimer, timer } from './calls.js';
import { errors } from './errors.js';
import { apply, global, keys, NumberFn, once, TypeErrorFn } from './primordials.js';
import { here, ownStack, places } from './position.js';
import { state } from './state.js';

const timers = once(() => {
    const MAX_MS = 0x7fffffff, MAX_TOLD = 100;
    // Timers that may still fire, by handle: {id, name, stack}.
    const alive = { __proto__: null };
    let handles = 0;
    state.hasNotes = true;

    // A symbol is no number, and neither is a BigInt that is given to Math.
    function delay(ms, name) {
        if (typeof ms === 'symbol' || typeof ms === 'bigint')
            throw new TypeErrorFn(`${name} takes milliseconds as a number: ${name}(() => …, 100)`);
        const n = ms === undefined ? 0 : NumberFn(ms);
        return n > 0 ? (n < MAX_MS ? n : MAX_MS) : 0;
    }

    function fire(fn, args, name) {
        try {
            apply(fn, undefined, args);
        } catch (e) {
            errors().warn(`A callback of ${name} threw ${errors().errorLine(e)}`);
        }
    }

    function check(fn, name) {
        if (typeof fn === 'function')
            return;
        const what = typeof fn === 'string' ? 'text is not run here'
            : fn === undefined ? 'it got undefined: give it the function itself, not what calling it returned' : 'it got something else';
        throw new TypeErrorFn(`${name} takes a function${name === 'queueMicrotask' ? '' : ` and milliseconds: ${name}(() => …, 100)`}; ${what}`);
    }

    function start(name, fn, ms, args, repeat) {
        check(fn, name);
        const handle = ++handles, wait = delay(ms, name), entry = { __proto__: null, id: 0, name, stack: here() };
        const tick = () => {
            if (!alive[handle])
                return;
            if (repeat)
                entry.id = timer(wait, tick);
            else
                delete alive[handle];
            fire(fn, args, name);
        };
        alive[handle] = entry;
        entry.id = timer(wait, tick);
        return handle;
    }

    function stop(handle) {
        const entry = typeof handle === 'number' || typeof handle === 'string' ? alive[handle] : undefined;
        if (entry === undefined)
            return;
        delete alive[handle];
        cancelTimer(entry.id);
    }

    // By await, which asks no constructor and no species of the program's.
    const soon = async fn => {
        await undefined;
        fire(fn, [], 'queueMicrotask');
    };

    const microtask = fn => {
        check(fn, 'queueMicrotask');
        soon(fn);
    };

    // Timers do not keep a program from ending: most of those left over are time limits of calls that were in time, and such a one, which
    // would only have settled a promise or aborted a signal, is no mistake.
    function warnOfRest() {
        const handles = keys(alive);
        for (let i = 0; i < handles.length && i < MAX_TOLD; i++) {
            const { name, stack } = alive[handles[i]], place = places().readStack(ownStack(stack));
            if (place !== null && place.isLimit && name !== 'setInterval')
                continue;
            const what = name + (place === null ? '' : ` (line ${place.line})`);
            errors().warnOnce(name === 'setInterval'
                ? `${what} was still running when the program ended, and was stopped. End it with clearInterval.`
                : `${what} had not fired when the program ended: its callback did not run. Await a promise that it resolves, or clear it.`);
        }
    }

    return { __proto__: null, start, stop, microtask, warnOfRest };
});

export const warnOfRest = () => timers().warnOfRest();

export function install() {
    const clear = handle => timers().stop(handle);
    global.setTimeout = (fn, ms, ...args) => timers().start('setTimeout', fn, ms, args, false);
    global.setInterval = (fn, ms, ...args) => timers().start('setInterval', fn, ms, args, true);
    global.setImmediate = (fn, ...args) => timers().start('setImmediate', fn, 0, args, false);
    global.clearTimeout = global.clearInterval = global.clearImmediate = clear;
    global.queueMicrotask = fn => timers().microtask(fn);
}
