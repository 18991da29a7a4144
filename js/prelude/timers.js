// setTimeout and its kin by host calls, so that a replay sees the same order; queueMicrotask.
import { cancelTimer, timer } from './calls.js';
import { errors } from './errors.js';
import { apply, global, NumberFn, once, reject, TypeErrorFn } from './primordials.js';

const timers = once(() => {
    const MAX_MS = 0x7fffffff;
    // Timers that may still fire: their calls' ids, by handle.
    const alive = { __proto__: null };
    let handles = 0;

    function delay(ms) {
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

    function start(name, fn, ms, args, repeat) {
        if (typeof fn !== 'function')
            throw new TypeErrorFn(`${name} takes a function and milliseconds: ${name}(() => …, 100)`);
        const handle = ++handles, wait = delay(ms);
        const tick = () => {
            if (!alive[handle])
                return;
            if (repeat)
                alive[handle] = timer(wait, tick);
            else
                delete alive[handle];
            fire(fn, args, name);
        };
        alive[handle] = timer(wait, tick);
        return handle;
    }

    function stop(handle) {
        const id = typeof handle === 'number' || typeof handle === 'string' ? alive[handle] : undefined;
        if (id === undefined)
            return;
        delete alive[handle];
        cancelTimer(id);
    }

    // By await, which asks no constructor and no species of the program's.
    const soon = async fn => {
        await undefined;
        fire(fn, [], 'queueMicrotask');
    };

    const microtask = fn => {
        if (typeof fn !== 'function')
            throw new TypeErrorFn('queueMicrotask takes a function');
        soon(fn);
    };

    return { __proto__: null, start, stop, microtask };
});

export function install() {
    global.setTimeout = (fn, ms, ...args) => timers().start('setTimeout', fn, ms, args, false);
    global.setInterval = (fn, ms, ...args) => timers().start('setInterval', fn, ms, args, true);
    global.clearTimeout = global.clearInterval = handle => timers().stop(handle);
    global.queueMicrotask = fn => timers().microtask(fn);
    global.fetch = () => reject(new TypeErrorFn(errors().noNetwork()));
}
