// From the text a model wrote to one function expression. The text is parsed whole, as the body of one async function, before
// anything runs; what is inserted goes to places that the parser named, so no text can close the wrapper. Positions stay those of
// the author: what is outside of the program (fences, prose, a hashbang) is blanked, never cut out, and no line is added before it.
import { parse } from 'acorn';
import { Program } from './edits.js';
import { excerpt } from './excerpt.js';
import { fences, unfence } from './fences.js';
import { refuseModules } from './imports.js';
import { isObjectText, isSpace, options } from './parse.js';
import { Refusal } from './refusal.js';
import { loneArrow, shape, wholeExpression } from './shape.js';
import { blank, keepOnly, place } from './text.js';

// What a syntax error most likely means, where a model would otherwise guess.
function advise(text, error) {
    const message = error.message.replace(/ \(\d+:\d+\)$/, '');
    if (message.startsWith('Not enough stack space'))
        return 'The program is nested too deeply to be read; bring data in through a call or a text instead of such a literal';
    const before = text.slice(Math.max(0, error.pos - 100), error.pos);
    if (/\bawait\s*$/.test(before) || text.slice(error.pos).startsWith('await'))
        return message + '. await stands only at the top level or in a function marked async';
    if (fences(text).length > 1)
        return message + '. Send one program: there are several code fences in the text';
    return message;
}

function parseProgram(text, bind) {
    try {
        const tree = parse(text, options);
        refuseModules(text, tree, bind);
        return tree.body;
    } catch (e) {
        if (isObjectText(text))
            return null;
        throw e;
    }
}

// A text that does not parse but holds one fence is prose around a program.
function readProgram(source, bind) {
    let text = unfence(source);
    if (text.startsWith('\uFEFF'))
        text = ' ' + text.slice(1);
    text = text.replace(/^\s*#![^\r\n\u2028\u2029]*/, blank);
    try {
        return { text, body: parseProgram(text, bind) };
    } catch (e) {
        const found = fences(text);
        if (found.length === 1 && !(e instanceof Refusal)) {
            const inner = keepOnly(text, found[0].start, found[0].end);
            return { text: inner, body: parseProgram(inner, bind) };
        }
        e.text = text;
        throw e;
    }
}

function build(source, input, bind) {
    const { text, body } = readProgram(source, bind);
    const start = text.search(/[^\s\uFEFF]/);
    if (start < 0 || (body !== null && isSpace(text)))
        return { text: 'async () => {}', run: '(async () => {})', map: '', line: 1 };
    const lineOf = pos => {
        const p = place(text, pos);
        return { line: p.line, column: p.column };
    };
    const first = lineOf(start);
    if (body !== null) {
        const arrow = loneArrow(text, body);
        if (arrow !== null) {
            // Shown as its author wrote it; what runs is the expression without its semicolon.
            const exportedArrow = arrow.start !== start && /^export\b/.test(text.slice(start));
            const shown = exportedArrow ? text.slice(arrow.start, arrow.end) : text.slice(start).trimEnd();
            const end = text[arrow.end - 1] === ';' ? arrow.end - 1 : arrow.end;
            const at = lineOf(arrow.start);
            return {
                text: exportedArrow ? shown.replace(/;$/, '').trimEnd() : shown,
                run: '(' + text.slice(arrow.start, end) + '\n)',
                map: JSON.stringify([[at.line, 0, 1 - at.column]]),
                line: at.line,
            };
        }
    }
    const program = new Program(text, input);
    if (body === null)
        wholeExpression(program);
    else
        shape(program, body);
    const head = '(async () => {';
    const { body: rendered, rows } = program.render(start, lineOf, head.length - first.column);
    const trimmed = rendered.trimEnd();
    return { text: 'async () => {\n' + trimmed.trimStart() + '\n}', run: head + trimmed + '\n})', map: JSON.stringify(rows), line: first.line };
}

// {text, run, map, line} or {error}: all text. `run` is evaluated with its first line numbered `line`.
export function normalize(source, input, bind) {
    try {
        return build(source, input, bind);
    } catch (e) {
        if (typeof e.pos !== 'number')
            return { error: JSON.stringify({ error: { name: e.name, message: 'The program cannot be read: ' + e.message }, warnings: [] }) };
        const { line, column } = place(source, e.pos);
        const error = {
            name: 'SyntaxError',
            message: e instanceof Refusal ? e.message : advise(e.text === undefined ? source : e.text, e),
            code: e instanceof Refusal ? e.code : 'syntax',
            line, column: column + 1, ...excerpt(source, e.pos),
            stack: `at (program.js:${line}:${column + 1})`,
        };
        return { error: JSON.stringify({ error }) };
    }
}
