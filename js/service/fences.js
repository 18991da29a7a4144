// What stands around a program: code fences and prose, a byte order mark, a hashbang. It is blanked, never cut out, so positions
// stay those of the author.
import { Refusal } from './refusal.js';
import { blank, keepOnly } from './text.js';

const FENCE = /^([ \t]*)(`{3,}|~{3,})[^\n`]*$/gm;
const ONE_LINE_FENCE = /^(`{3,})(?:[A-Za-z]+[ \t])?([^`\n]*)\1$/;

// Its pattern takes quadratic time over backticks.
const ONE_LINE_MAX = 2000;

// The inside of the fences in `text` as [start, end] pairs.
export function fences(text) {
    const found = [];
    let open = null;
    for (const line of text.matchAll(FENCE)) {
        const marker = line[2];
        if (open === null)
            open = { marker, from: line.index, start: Math.min(text.length, line.index + line[0].length + 1) };
        else if (marker[0] === open.marker[0] && marker.length >= open.marker.length && line[0].trim() === marker) {
            found.push({ from: open.from, start: open.start, end: line.index, to: line.index + line[0].length });
            open = null;
        }
    }
    return found;
}

// One fence around everything is taken off.
export function unfence(text) {
    const trimmed = text.trim(), one = trimmed.length < ONE_LINE_MAX ? ONE_LINE_FENCE.exec(trimmed) : null;
    if (one !== null) {
        const end = text.lastIndexOf(one[1]);
        return keepOnly(text, end - one[2].length, end);
    }
    if (!trimmed.startsWith('```') && !trimmed.startsWith('~~~'))
        return text;
    const found = fences(text);
    if (found.length > 1)
        throw new Refusal('There are several code fences in the text; send one program', found[1].from, 'syntax');
    if (found.length === 0)
        throw new Refusal('The code fence is not closed; send the whole program, with or without a fence', text.search(/\S/), 'syntax');
    if (!text.slice(0, found[0].from).trim() && !text.slice(found[0].to).trim())
        return keepOnly(text, found[0].start, found[0].end);
    return text;
}
