// The line that an error shows: as much of it as a message bears, and where in it the place is.
import { place } from './text.js';

const MAX = 160, BEFORE = 100;
const isLow = c => c >= 0xdc00 && c <= 0xdfff;

// A cut never falls between the halves of a character.
const inside = (line, at) => (at > 0 && at < line.length && isLow(line.charCodeAt(at)) ? at - 1 : at);

// {source, caret}: the line without its indentation, cut around the column (from 0) when it is long; caret is the place in source,
// in characters from 0.
export function excerptOf(line, column) {
    let from = line.search(/\S|$/), to = line.trimEnd().length;
    column = Math.max(from, Math.min(column, Math.max(to, from)));
    let source = line.slice(from, to);
    if (to - from > MAX) {
        if (column - from > BEFORE)
            from = inside(line, column - BEFORE);
        to = inside(line, Math.min(to, from + MAX));
        source = line.slice(from, to);
        if (from > line.search(/\S|$/)) {
            source = '…' + source;
            from--;
        }
        if (to < line.trimEnd().length)
            source += '…';
    }
    return { source: source.toWellFormed(), caret: [...source.slice(0, column - from)].length };
}

// The same for an offset of a text.
export function excerpt(text, pos) {
    const { column } = place(text, pos), rest = text.slice(pos).search(/[\r\n\u2028\u2029]/);
    return excerptOf(text.slice(pos - column, rest < 0 ? text.length : pos + rest), column);
}
