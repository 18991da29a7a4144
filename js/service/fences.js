// What stands around a program: code fences and prose, a byte order mark, a hashbang, a tag. It is blanked, never cut out, so
// positions stay those of the author.
import { blank, keepOnly } from './text.js';

const FENCE = /^[ \t]*(`{3,}(?!`)|~{3,}(?!~))([^\r\n`]*)$/gm;

// Tags of what is a program here; another language beside them is an illustration.
const OURS = new Set(['js', 'javascript', 'ecmascript', 'es6', 'mjs', 'cjs', 'jsx', 'node', 'nodejs', 'ts', 'typescript', 'tsx', 'mts', 'codemode']);

// What may follow a tag: title="x.ts", {1,3}, linenums. Anything else is the program's first line.
const ATTRIBUTES = /^(?:\{[^{}]*\}|\[[^\][]*\]|[\w-]+(?![\w-])(?:=(?:"[^"]*"|'[^']*'|[^\s"'=]+(?![^\s"'=])))?|[ \t]+(?![ \t]))*$/;

// The pieces of code in a text: {start, end, at, kind}; kind 2: a tag of ours, 1: none, 0: another.
export function fences(text) {
    const found = [];
    if (!text.includes('```') && !text.includes('~~~'))
        return found;
    let open = null;
    const close = (end, to) => {
        found.push({ ...open, end, to });
        open = null;
    };
    for (const line of text.matchAll(FENCE)) {
        const marker = line[1], info = line[2].trim();
        if (open === null) {
            const tag = /^\S*/.exec(info)[0], rest = info.slice(tag.length).trim(), end = line.index + line[0].length;
            const code = rest !== '' && !ATTRIBUTES.test(rest.slice(0, 200));
            open = { marker, at: line.index, start: code ? line.index + line[0].lastIndexOf(rest) : end,
                     kind: tag === '' ? 1 : OURS.has(tag.toLowerCase().replace(/[{.:,].*$/, '')) ? 2 : 0 };
        } else if (marker[0] === open.marker[0] && marker.length >= open.marker.length && info === '') {
            close(line.index, line.index + line[0].length);
        }
    }
    // The last one need not be closed; a closing one whose opening is missing ends the program.
    if (open !== null) {
        if (found.length === 0 && open.kind === 1 && text.slice(open.start).trim() === '' && text.slice(0, open.at).trim() !== '')
            found.push({ marker: '', at: 0, start: 0, end: open.at, to: text.length, kind: 1 });
        else
            close(text.length, text.length);
    }
    return found;
}

// ```js 1 + 2``` as [start, end], or null.
function oneLine(text) {
    const from = text.search(/\S/), to = text.trimEnd().length;
    if (!text.startsWith('```', from) || /[\r\n]/.test(text.slice(from, to)))
        return null;
    let n = 0;
    while (text[from + n] === '`')
        n++;
    const inner = text.slice(from + n, to - n);
    if (n * 2 >= to - from || text.slice(to - n, to) !== '`'.repeat(n) || inner.includes('`'))
        return null;
    return [from + n + (/^[A-Za-z]+[ \t]/.exec(inner)?.[0].length ?? 0), to - n];
}

// What surrounds a whole text, when it cannot belong to a program.
const TAG = /^\s*<(script|code|pre|javascript|js|typescript|ts|program|tool_code|execute|codemode)(?:\s[^<>]{0,200})?>/i;

function untag(text) {
    const open = TAG.exec(text.slice(0, 1000));
    if (open === null)
        return text;
    const close = `</${open[1].toLowerCase()}>`, trimmed = text.trimEnd();
    if (trimmed.slice(-close.length).toLowerCase() !== close)
        return text;
    return keepOnly(text, open[0].length, trimmed.length - close.length);
}

// A first line that is the tag of a fence which got lost, or a bookmark's scheme.
const LOST_TAG = /^\s*(?:(?:js|javascript|typescript|ts|jsx|tsx)[ \t]*(?=[\r\n]+\s*[^\s.=,?+*%&|^<>])|javascript:)/i;

// `-->` with what follows it in its line is a comment at the start of a line only, which the program's first line, behind the head of
// a function, no longer has. Other comments may stand before it, and more of its kind.
const CLOSE = /(?:\s|\/\*(?:[^*\r\n\u2028\u2029]|\*(?!\/))*\*\/)*(-->[^\r\n\u2028\u2029]*)/y;

export function blankClose(text) {
    let out = '', at = 0;
    if (!text.includes('-->'))
        return text;
    CLOSE.lastIndex = 0;
    for (let found; (found = CLOSE.exec(text)); at = CLOSE.lastIndex)
        out += text.slice(at, CLOSE.lastIndex - found[1].length) + blank(found[1]);
    return out + text.slice(at);
}

// The program's own text within what was sent, every line and column where it was.
export function clean(text) {
    if (text.startsWith('\uFEFF'))
        text = ' ' + text.slice(1);
    text = text.replace(/^\s*#![^\r\n\u2028\u2029]*/, blank);
    text = blankClose(text).replace(LOST_TAG, blank);
    const data = /^\s*<!\[CDATA\[(?=[^]*\]\]>\s*$)/.exec(text);
    if (data !== null)
        return keepOnly(text, data[0].length, text.lastIndexOf(']]>'));
    return /^\s*</.test(text) ? untag(text) : text;
}

// {whole, pieces}: whether the text without regard to fences is worth a try, and what is in them.
export function unwrap(text) {
    const one = oneLine(text);
    if (one !== null)
        return { whole: null, pieces: [{ start: one[0], end: one[1], at: one[0], kind: 2 }] };
    const pieces = fences(text);
    return { whole: pieces.length > 0 && /^\s*(?:```|~~~)/.test(text) ? null : text, pieces };
}
