// Event, CustomEvent, EventTarget, AbortController and AbortSignal.
import { finish, named } from './finish.js';
import { BASIC } from './scripts.js';

const domException = (message, name) => new (kit.load(BASIC).DOMException)(message, name);

// State of an event that the target moves on: kept in one object, so that only this file can.
let inner;

class Event {
    #state = { target: null, current: null, phase: 0, stopped: false, halted: false, prevented: false, passive: false, busy: false, path: [] };
    #type;
    #init;
    #time = kit.now() - kit.start();

    constructor(type, init = {}) {
        if (arguments.length === 0)
            throw new TypeError('An Event takes its type first: new Event("change")');
        this.#type = `${type}`;
        this.#init = { bubbles: !!init?.bubbles, cancelable: !!init?.cancelable, composed: !!init?.composed };
        Object.defineProperty(this, 'isTrusted', { get: isTrusted, enumerable: true, configurable: false });
    }

    static {
        inner = event => event.#state;
    }

    get type() { return this.#type; }
    get target() { return this.#state.target; }
    get srcElement() { return this.#state.target; }
    get currentTarget() { return this.#state.current; }
    get eventPhase() { return this.#state.phase; }
    get bubbles() { return this.#init.bubbles; }
    get cancelable() { return this.#init.cancelable; }
    get composed() { return this.#init.composed; }
    get defaultPrevented() { return this.#state.prevented; }
    get returnValue() { return !this.#state.prevented; }
    set returnValue(value) {
        if (!value)
            this.preventDefault();
    }
    get cancelBubble() { return this.#state.stopped; }
    set cancelBubble(value) {
        if (value)
            this.#state.stopped = true;
    }
    get timeStamp() { return this.#time; }

    composedPath() { return [...this.#state.path]; }
    stopPropagation() { this.#state.stopped = true; }
    stopImmediatePropagation() { this.#state.stopped = this.#state.halted = true; }
    preventDefault() {
        if (this.#init.cancelable && !this.#state.passive)
            this.#state.prevented = true;
    }
}

function isTrusted() {
    return false;
}

class CustomEvent extends Event {
    #detail;

    constructor(type, init = {}) {
        super(type, init);
        this.#detail = init?.detail ?? null;
    }

    get detail() { return this.#detail; }
}

function report(type, error) {
    kit.warn(`A listener of "${type}" threw`, error);
}

class EventTarget {
    #listeners = new Map();

    addEventListener(type, callback, options) {
        const given = typeof options === 'object' && options !== null ? options : { capture: !!options };
        const signal = given.signal, capture = !!given.capture, name = `${type}`;
        if (signal !== undefined && !(signal instanceof AbortSignal))
            throw new TypeError('The signal of addEventListener is an AbortSignal');
        if (callback === null || callback === undefined || signal?.aborted)
            return;
        if (typeof callback !== 'function' && typeof callback !== 'object')
            throw new TypeError(`A listener is a function, or an object with handleEvent: target.addEventListener("${name}", event => …)`);
        const list = this.#listeners.get(name) ?? [];
        this.#listeners.set(name, list);
        if (list.some(l => l.callback === callback && l.capture === capture))
            return;
        list.push({ callback, capture, once: !!given.once, passive: !!given.passive, removed: false });
        signal?.addEventListener('abort', () => this.removeEventListener(name, callback, { capture }), { once: true });
    }

    removeEventListener(type, callback, options) {
        const capture = typeof options === 'object' && options !== null ? !!options.capture : !!options;
        const list = this.#listeners.get(`${type}`) ?? [], at = list.findIndex(l => l.callback === callback && l.capture === capture);
        if (at >= 0)
            list.splice(at, 1)[0].removed = true;
    }

    dispatchEvent(event) {
        if (!(event instanceof Event))
            throw new TypeError('dispatchEvent takes an Event: target.dispatchEvent(new Event("change"))');
        const state = inner(event);
        if (state.busy)
            throw domException('This event is being dispatched already', 'InvalidStateError');
        Object.assign(state, { target: this, current: this, phase: 2, busy: true, path: [this] });
        // Those that listen when it begins: capturing ones first, as at any target.
        const list = this.#listeners.get(event.type) ?? [];
        for (const l of [...list.filter(each => each.capture), ...list.filter(each => !each.capture)]) {
            if (state.halted)
                break;
            if (l.removed)
                continue;
            if (l.once)
                this.removeEventListener(event.type, l.callback, l);
            state.passive = l.passive;
            this.#call(l.callback, event);
        }
        Object.assign(state, { current: null, phase: 0, busy: false, passive: false, stopped: false, halted: false, path: [] });
        return !state.prevented;
    }

    #call(callback, event) {
        try {
            if (typeof callback === 'function')
                callback.call(this, event);
            else
                callback.handleEvent(event);
        } catch (e) {
            report(event.type, e);
        }
    }
}

let abort;
// What may make a signal: the standard gives it no constructor.
const key = {};

class AbortSignal extends EventTarget {
    #aborted = false;
    #reason;
    #dependents = [];
    #sources = [];
    #handler = null;

    constructor(given) {
        if (given !== key)
            throw new TypeError('AbortSignal has no constructor; use new AbortController().signal, AbortSignal.timeout(ms) or AbortSignal.any([…])');
        super();
    }

    static {
        abort = (signal, reason) => signal.#abort(reason);
    }

    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    get onabort() { return this.#handler; }
    set onabort(value) {
        if (this.#handler === null)
            this.addEventListener('abort', event => this.#handler?.call(this, event));
        this.#handler = typeof value === 'function' ? value : null;
    }

    throwIfAborted() {
        if (this.#aborted)
            throw this.#reason;
    }

    #abort(reason) {
        if (this.#aborted)
            return;
        const all = [this, ...this.#dependents.filter(signal => !signal.#aborted)];
        const why = reason === undefined ? domException('This operation was aborted', 'AbortError') : reason;
        for (const signal of all) {
            signal.#aborted = true;
            signal.#reason = why;
        }
        for (const signal of all)
            signal.dispatchEvent(new Event('abort'));
    }

    static abort(reason) {
        const signal = new AbortSignal(key);
        signal.#aborted = true;
        signal.#reason = reason === undefined ? domException('This operation was aborted', 'AbortError') : reason;
        return signal;
    }

    static timeout(ms) {
        const wait = Number(ms);
        if (!(wait >= 0 && wait <= Number.MAX_SAFE_INTEGER))
            throw new TypeError(`AbortSignal.timeout takes milliseconds; got ${ms}`);
        const signal = new AbortSignal(key);
        kit.timer(Math.trunc(wait), () => abort(signal, domException(`The operation took longer than ${Math.trunc(wait)} ms`, 'TimeoutError')));
        return signal;
    }

    // A signal that follows others follows what they follow, so that all are aborted before the first listener runs.
    static any(signals) {
        const signal = new AbortSignal(key), list = [...signals];
        for (const source of list) {
            if (!(source instanceof AbortSignal))
                throw new TypeError('AbortSignal.any takes a list of AbortSignals');
        }
        const aborted = list.find(source => source.#aborted);
        if (aborted !== undefined) {
            signal.#aborted = true;
            signal.#reason = aborted.#reason;
            return signal;
        }
        signal.#sources = [...new Set(list.flatMap(source => (source.#sources.length > 0 ? source.#sources : [source])))];
        for (const source of signal.#sources)
            source.#dependents.push(signal);
        return signal;
    }
}

class AbortController {
    #signal = new AbortSignal(key);

    get signal() { return this.#signal; }
    abort(reason) { abort(this.#signal, reason); }
}

finish({ Event, CustomEvent, EventTarget, AbortSignal, AbortController });
for (const [i, name] of ['NONE', 'CAPTURING_PHASE', 'AT_TARGET', 'BUBBLING_PHASE'].entries()) {
    for (const object of [Event, Event.prototype])
        Object.defineProperty(object, name, { value: i, enumerable: true });
}

kit.describe(value => {
    if (!(value instanceof Event || value instanceof EventTarget))
        return undefined;
    const advice = 'return the fields you need instead';
    if (value instanceof AbortSignal)
        return { __proto__: null, name: 'AbortSignal', data: { aborted: value.aborted }, advice };
    if (value instanceof Event)
        return { __proto__: null, name: value instanceof CustomEvent ? 'CustomEvent' : 'Event', data: { type: value.type }, advice };
    return undefined;
});

made = named({ Event, CustomEvent, EventTarget, AbortSignal, AbortController });
