// Where in the author's text something happened. The engine's stack names lines exactly (the wrapper adds none); columns move
// where the normaliser inserted text, and state.map has those places.
import { apply, charCode, cut, ErrorFn, find, issued, once, ownData, parse, weakGet, weakSet } from './primordials.js';
import { state } from './state.js';

export const URL = 'program.js';
const MAX_FRAMES = 10;

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

// The stack of where we are; reading its text is what costs. With Error.stackTraceLimit out of order there is none, and what an
// Error inherits is the program's.
export const here = () => new ErrorFn();
export const ownStack = error => ownData(error, 'stack');

// {line, column} of the innermost frame of the program in a stack's text, or null. For every call, so it reads no more than that.
export function innermost(stack) {
    if (typeof stack !== 'string')
        return null;
    for (let at = find(stack, URL + ':', 0); at >= 0; at = find(stack, URL + ':', at + 1)) {
        const line = digits(stack, at + URL.length + 1), column = digits(stack, line.at + 1);
        // A function may be called like a place; the engine puts its own behind an @, at the end of the line.
        if ((at === 0 || stack[at - 1] === '@' || stack[at - 1] === '\n') && (column.at === stack.length || stack[column.at] === '\n'))
            return { __proto__: null, line: line.n, column: originalColumn(line.n, column.n) };
    }
    return null;
}

// What failures need besides.
export const places = once(() => {
    // Errors that were made here, at a delivery, belong to the place where their call was issued.
    const rememberPlace = (error, stack) => apply(weakSet, issued, [error, stack]);

    // One line of the engine's stack ("name@url:line:column") as {name, line, column}, or null when it is not the program's.
    function frame(text) {
        let at = -1;
        for (let next = find(text, URL + ':', 0); next >= 0; next = find(text, URL + ':', next + 1))
            at = next;
        if (at < 0 || (at > 0 && text[at - 1] !== '@'))
            return null;
        const { n: line, at: colon } = digits(text, at + URL.length + 1), { n: column, at: end } = digits(text, colon + 1);
        if (text[colon] !== ':' || end !== text.length || line === 0 || column === 0)
            return null;
        return { __proto__: null, name: at > 0 ? cut(text, 0, at - 1) : '', line, column: originalColumn(line, column) };
    }

    // The program's frames of a stack text: {line, column, text} of the innermost and all as lines, or null.
    function readStack(stack) {
        if (typeof stack !== 'string')
            return null;
        let first = null, out = '', n = 0;
        for (let at = 0, next; at <= stack.length && n < MAX_FRAMES; at = next + 1) {
            next = find(stack, '\n', at);
            if (next < 0)
                next = stack.length;
            const f = frame(cut(stack, at, next));
            if (f === null)
                continue;
            n++;
            if (first === null)
                first = f;
            const name = f.name === 'global code' || f.name === '' ? '' : f.name + ' ';
            out += (n > 1 ? '\n' : '') + 'at ' + name + '(' + URL + ':' + f.line + ':' + f.column + ')';
        }
        return first === null ? null : { __proto__: null, line: first.line, column: first.column, stack: out };
    }

    function placeOf(error) {
        const call = apply(weakGet, issued, [error]);
        return readStack(ownStack(call === undefined ? error : call));
    }

    const isBreak = c => c === 10 || c === 13 || c === 0x2028 || c === 0x2029;

    // The author's line, without indentation, as much as a message bears.
    function sourceLine(line) {
        const text = state.source;
        let at = 0;
        for (let n = 1; n < line && at < text.length; n++) {
            while (at < text.length && !isBreak(charCode(text, at)))
                at++;
            at += charCode(text, at) === 13 && charCode(text, at + 1) === 10 ? 2 : 1;
        }
        let end = at;
        while (end < text.length && end < at + 1000 && !isBreak(charCode(text, end)))
            end++;
        while (at < end && (text[at] === ' ' || text[at] === '\t'))
            at++;
        return cut(text, at, end < at + 200 ? end : at + 200);
    }

    return { __proto__: null, rememberPlace, readStack, placeOf, sourceLine };
});
