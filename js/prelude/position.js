// Where in the author's text something happened. The engine's stack names lines exactly (the wrapper adds none); columns move
// where the normaliser inserted text, and state.map has those places.
import { apply, charCode, cut, ErrorFn, find, issued, once, own, ownData, parse, stringify, weakGet, weakSet, wellFormed } from './primordials.js';
import { OP_LINE, OP_LOCATE, state } from './state.js';

export const URL = 'program.js';
// In front of a module's name, which has no colon; and of a snippet's.
const MODULE = 'module:', SNIPPET = 'snippet:';
const MAX_FRAMES = 10;

// The stack of where we are; reading its text is what costs. With Error.stackTraceLimit out of order there is none, and what an
// Error inherits is the program's.
export const here = () => new ErrorFn();
export const ownStack = error => ownData(error, 'stack');
// Of the program's innermost frame in it, 0 where there is none; as the host is told where a call was issued.
export const lineOf = stack => send(OP_LINE, ownStack(stack)) || 0;

// What failures need besides.
export const places = once(() => {
    function originalColumn(line, column) {
        if (state.map === '')
            return column;
        const rows = parse(state.map);
        let shift = 0;
        for (let i = 0; i < rows.length; i++) {
            if (rows[i][0] === line && column > rows[i][1])
                shift += rows[i][2];
        }
        return column - shift > 0 ? column - shift : 1;
    }

    // {n, at}: a decimal number and where it ends. A stack's text can be the program's own, so it may be any number: beyond what a position
    // can be it is 0, which is none.
    function digits(text, at) {
        let n = 0;
        for (let c = charCode(text, at); c >= 48 && c <= 57; c = charCode(text, ++at))
            n = n * 10 + c - 48;
        if (n > 0xffffffff)
            n = 0;
        return { __proto__: null, n, at };
    }

    // Errors that were made here, at a delivery, belong to the place where their call was issued.
    const rememberPlace = (error, stack) => apply(weakSet, issued, [error, stack]);

    // Where the text of one frame names its script, or -1: "name@program.js:3:5", "program.js:3:5", "name@module:lib.js:3:5".
    function scriptStart(text, script) {
        let at = -1;
        for (let next = find(text, script, 0); next >= 0; next = find(text, script, next + 1))
            at = next;
        return at > 0 && text[at - 1] !== '@' ? -1 : at;
    }

    // One line of the engine's stack as {name, module, line, column}, or null when it is neither the program's, a module's nor a snippet's;
    // `module` of a snippet is its name with what stands in front of it.
    function frame(text) {
        let at = scriptStart(text, URL + ':'), module = '', places = at + URL.length + 1;
        if (at < 0) {
            at = scriptStart(text, MODULE);
            const isSnippet = at < 0;
            if (isSnippet)
                at = scriptStart(text, SNIPPET);
            if (at < 0)
                return null;
            places = find(text, ':', at + (isSnippet ? SNIPPET : MODULE).length) + 1;
            module = cut(text, isSnippet ? at : at + MODULE.length, places - 1);
        }
        const { n: line, at: colon } = digits(text, places), { n: column, at: end } = digits(text, colon + 1);
        if (text[colon] !== ':' || end !== text.length || line === 0 || column === 0)
            return null;
        return { __proto__: null, name: at > 0 ? cut(text, 0, at - 1) : '', module, line, column };
    }

    // The program's frames in a stack's text, by number, with their count in `n`.
    function framesOf(stack) {
        const frames = { __proto__: null, n: 0 };
        for (let at = 0, next; at <= stack.length && frames.n < MAX_FRAMES; at = next + 1) {
            next = find(stack, '\n', at);
            if (next < 0)
                next = stack.length;
            const f = frame(cut(stack, at, next));
            if (f !== null)
                frames[frames.n++] = f;
        }
        return frames;
    }

    // The service realm knows what the engine's columns mean. It gets numbers and names only; with no stack or memory left for it
    // lines are right, columns nearly, and the line's text is missing.
    function located(frames, said) {
        let asked = '';
        for (let i = 0; i < frames.n; i++) {
            const f = frames[i];
            asked += (i ? ',[' : '[') + f.line + ',' + f.column + ',' + stringify(f.module) + ']';
        }
        const answer = send(OP_LOCATE, `{"said":${stringify(wellFormed(said))},"places":[${asked}]}`);
        return typeof answer === 'string' && answer !== '' ? parse(answer) : null;
    }

    // What a stack's text says in the author's terms: {line, column, module, source, caret, stack} of the innermost frame, and all as
    // lines, or null. `said`: the message of an error, which tells what failed there; `message` is that in better words.
    function readStack(stack, said = '') {
        if (typeof stack !== 'string')
            return null;
        const frames = framesOf(stack);
        if (frames.n === 0)
            return null;
        const found = located(frames, said);
        let out = '', first = null;
        for (let i = 0; i < frames.n; i++) {
            const f = frames[i];
            if (found === null) {
                f.column = originalColumn(f.line, f.column);
            } else {
                const place = found.places[i];
                if (place === null)
                    continue;
                f.line = place[0];
                f.column = place[1];
            }
            const who = f.name === 'global code' || f.name === '' ? '' : f.name + ' ';
            out += (first === null ? '' : '\n') + 'at ' + who + '(' + (f.module === '' ? URL : find(f.module, SNIPPET, 0) === 0 ? f.module : MODULE + f.module) + ':' + f.line + ':' + f.column + ')';
            if (first === null)
                first = f;
        }
        if (first === null)
            return null;
        const { line, column, module } = first;
        return { __proto__: null, line, column, module, source: found === null ? undefined : own(found, 'source'),
                 caret: found === null ? undefined : own(found, 'caret'),
                 message: found === null ? undefined : own(found, 'message'),
                 isLimit: found !== null && own(found, 'isLimit') === true, stack: out };
    }

    // The place of what is thrown and is no Error, where it was noted (modules.js).
    function placeOfThrow(value) {
        const { thrown } = state;
        if ((typeof value === 'object' && value !== null) || typeof value === 'function') {
            const noted = apply(weakGet, issued, [value]);
            return noted === undefined ? null : readStack(ownStack(noted));
        }
        return thrown !== null && (thrown.value === value || (value !== value && thrown.value !== thrown.value)) ? readStack(ownStack(thrown.stack)) : null;
    }

    // `said` of what was noted: the engine's words, where the program caught the error and they were made better.
    function placeOf(error) {
        const noted = apply(weakGet, issued, [error]), said = noted === undefined ? ownData(error, 'message') : ownData(noted, 'said');
        return readStack(ownStack(noted === undefined ? error : noted), typeof said === 'string' ? cut(said, 0, 1000) : '');
    }

    // Its members of meta.error, without a comma in front.
    function placeJson(place) {
        return '"line":' + place.line + ',"column":' + place.column + (place.module === '' ? '' : ',"module":' + stringify(place.module))
            + (place.source === undefined ? '' : ',"source":' + stringify(place.source) + ',"caret":' + place.caret)
            + ',"stack":' + stringify(wellFormed(place.stack));
    }

    return { __proto__: null, rememberPlace, readStack, placeOf, placeOfThrow, placeJson };
});
