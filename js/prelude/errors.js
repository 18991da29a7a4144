// How a failure is told: the meta of DONE. Whatever was thrown becomes a name, a message that a model can act on, and a place.
import {
    apply, cut, defineProperty, find, getPrototypeOf, isArray, isError, isObject, issued, once, ownData, PromiseFn, stringify, text, weakGet, wellFormed,
} from './primordials.js';
import { absent } from './absent.js';
import { encodeFields } from './codec.js';
import { formatter } from './format.js';
import { places } from './position.js';
import { state } from './state.js';

const MAX_MESSAGE = 16000;
const MAX_WARNINGS = 20;
const MAX_REJECTIONS = 100;
const NOT_DEFINED = ' is not defined. ', CANNOT_FIND = "Can't find variable: ";

// Rejections that nothing had handled when the engine looked, by number: {line, isHandled}; null as long as there are none.
let rejections = null;

export const errors = once(() => {
    const { format } = formatter(), { placeOf, placeOfThrow, placeJson } = places();

    const noNetwork = () => absent().network(state.names);

    function globalNames() {
        return (state.names ? state.names + ', ' : '') + 'codemode, console, setTimeout, clearTimeout, setInterval, clearInterval, '
            + 'queueMicrotask, and what the language and the web have (Promise, JSON, Math, Date, Intl, URL, …)';
    }

    function undeclared(message) {
        if (find(message, CANNOT_FIND, 0) !== 0)
            return message;
        const name = cut(message, CANNOT_FIND.length), advice = absent().advice(name, state.names);
        return `${name}${NOT_DEFINED}${advice}Globals here: ${globalNames()}.`;
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
            // The one name that is there and is undefined (main.js).
            if (find(out.message, "(evaluating 'Atomics", 0) >= 0) {
                const advice = absent().advice('Atomics', state.names);
                out.message += '. ' + cut(advice, 0, advice.length - 1);
            }
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

    // No place is an AggregateError's own where the engine made it: that of the first failure in it.
    function placeOfFirst(thrown) {
        const list = ownData(thrown, 'errors');
        for (let i = 0; isArray(list) && i < list.length && i < 5; i++) {
            const e = ownData(list, '' + i), place = isObject(e) && isError(e) ? placeOf(e) : placeOfThrow(e);
            if (place !== null) {
                place.message = undefined;
                return place;
            }
        }
        return null;
    }

    // What it is and where, with the engine's own words made better where they came as they are.
    function told(thrown) {
        const d = safeDescribe(thrown), place = isObject(thrown) && isError(thrown) ? placeOf(thrown) ?? placeOfFirst(thrown) : placeOfThrow(thrown);
        if (place === null || typeof place.message !== 'string')
            return { __proto__: null, d, place };
        if (d.message === ownData(thrown, 'message'))
            d.message = place.message;
        else if (find(d.message, NOT_DEFINED, 0) > 0 && find(d.message, 'Did you mean', 0) < 0)
            d.message = cut(d.message, 0, find(d.message, NOT_DEFINED, 0) + NOT_DEFINED.length) + place.message + ' '
                + cut(d.message, find(d.message, NOT_DEFINED, 0) + NOT_DEFINED.length);
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
                return encodeFields(thrown);
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

    const messageOf = thrown => short(safeDescribe(thrown).message);
    const short = s => (s.length > 300 ? cut(s, 0, 300) + '…' : s);

    const said = { __proto__: null };
    function warnOnce(message) {
        if (said[message])
            return;
        said[message] = true;
        warn(message);
    }

    // What a rejection is told as, now: its reason can run code of the program. Of a call's it is known which; undefined where that is told
    // already.
    function rejectionLine(reason) {
        const call = isObject(reason) ? apply(weakGet, issued, [reason]) : undefined;
        if (call === undefined || ownData(call, 'what') === undefined)
            return `A promise was rejected and nothing awaited it: ${errorLine(reason)}`;
        return ownData(call, 'isTold') ? undefined : `${ownData(call, 'what')} failed and nothing awaited it: ${errorLine(reason)}`;
    }

    // A rejection that nothing has handled so far. Whoever handles it later (await, then, Promise.all) asks the promise for its constructor
    // first, and that is how it is noticed.
    function unhandled(promise, reason) {
        const line = rejections === null || rejections.n < MAX_REJECTIONS ? rejectionLine(reason) : undefined;
        if (line === undefined)
            return;
        rejections ??= { __proto__: null, n: 0 };
        state.hasNotes = true;
        const entry = rejections[rejections.n++] = { __proto__: null, line, isHandled: false };
        try {
            if (getPrototypeOf(promise) !== PromiseFn.prototype)
                return;
            defineProperty(promise, 'constructor', {
                __proto__: null, enumerable: false, configurable: true, set: undefined,
                get() {
                    entry.isHandled = true;
                    return PromiseFn;
                },
            });
        } catch {
            // One that cannot be changed is told as it is now.
        }
    }

    // Told when the program has ended: until then it can handle what it left alone.
    function warnOfRejections() {
        for (let i = 0; i < rejections.n; i++) {
            if (!rejections[i].isHandled)
                warn(rejections[i].line);
        }
    }

    // The engine's words for what a program caught, as those of a failure are told, or undefined.
    function better(error, said) {
        const place = placeOf(error), known = place === null ? undefined : place.message;
        if (find(said, CANNOT_FIND, 0) !== 0)
            return known;
        const name = cut(said, CANNOT_FIND.length), advice = absent().advice(name, state.names) || (known === undefined ? '' : known + ' ');
        return cut(name + NOT_DEFINED + advice, 0, -1);
    }

    return {
        __proto__: null, better, errorJson, errorLine, fieldsOf, messageOf, noNetwork, told, unhandled, warn, warnOfRejections,
        warnOnce,
    };
});

export const warnOfRejections = () => rejections !== null && errors().warnOfRejections();

export function metaJson(error) {
    let out = error === '' ? '' : '"error":' + error;
    if (state.warnings !== '')
        out += (out ? ',' : '') + '"warnings":[' + state.warnings + ']';
    return '{' + out + '}';
}
