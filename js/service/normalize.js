// From the text a model wrote to one function expression. The text is parsed whole, as the body of one async function, before
// anything runs; what is inserted goes to places that the parser named, so no text can close the wrapper. Positions stay those of
// the author: what is outside of the program (fences, prose, a hashbang) is blanked, never cut out, and no line is added before it.
import { parse, parseExpressionAt, tokenizer } from 'acorn';

const options = {
    ecmaVersion: 'latest',
    sourceType: 'script',
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
    allowImportExportEverywhere: true,
    allowHashBang: true,
};

const FENCE = /^([ \t]*)(`{3,}|~{3,})[^\n`]*$/gm;
const ONE_LINE_FENCE = /^(`{3,})(?:[A-Za-z]+[ \t])?([^`\n]*)\1$/;

// Its pattern takes quadratic time over backticks.
const ONE_LINE_MAX = 2000;

// Text of the same length and lines, all blank.
const blank = text => text.replace(/[^\r\n\u2028\u2029]/g, ' ');

// The inside of the fences in `text` as [start, end] pairs.
function fences(text) {
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

const keepOnly = (text, start, end) => blank(text.slice(0, start)) + text.slice(start, end) + blank(text.slice(end));

// One fence around everything is taken off.
function unfence(text) {
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

const isSpace = text => /^[\s\uFEFF]*$/.test(text);

// Whether only blanks and comments stand in the text; a semicolon counts as blank where `semicolons`.
function isQuiet(text, semicolons) {
    try {
        for (const token of tokenizer(text, options)) {
            if (!(semicolons && token.type.label === ';'))
                return false;
        }
        return true;
    } catch {
        return false;
    }
}

const isFunction = node => node !== null && (node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression');

class Program {
    constructor(text, input) {
        this.text = text;
        this.edits = [];
        this.call = input ? '(input)' : '()';
        this.end = text.length;
    }

    insert(at, text) {
        this.edits.push({ at, to: at, text });
    }

    remove(at, to) {
        // Only ever inside a line or over blanks: what is removed is blanked, so no column moves.
        this.edits.push({ at, to, text: blank(this.text.slice(at, to)) });
    }

    // Call a declared function, last of all.
    callAfter(declaration, name = declaration.id.name) {
        this.insert(declaration.end, `\nreturn ${name}${this.call};`);
        this.end = declaration.end;
    }

    // Make [start, end) the result; `called` when it is a function to be called. Everything after it goes.
    yield(start, end, called, keepRest) {
        this.insert(start, 'return (');
        this.insert(end, ')' + (called ? this.call : ''));
        if (!keepRest)
            this.end = end;
    }

    // {body, rows}: the edited text from `start`, and [line, column after which, length] of each insertion.
    render(start, lineOf, prefix) {
        const rows = [];
        const first = lineOf(start);
        if (prefix)
            rows.push([first.line, 0, prefix]);
        let out = '', at = start;
        for (const edit of this.edits.sort((a, b) => a.at - b.at)) {
            out += this.text.slice(at, edit.at) + edit.text;
            at = edit.to;
            if (edit.at === edit.to) {
                const place = lineOf(edit.at);
                const shift = rows.reduce((sum, row) => (row[0] === place.line ? sum + row[2] : sum), 0);
                rows.push([place.line, place.column + shift, edit.text.length]);
            }
        }
        return { body: out + this.text.slice(at, this.end), rows };
    }
}

// End of a statement's expression: before its semicolon, with comments between kept inside.
function expressionEnd(text, statement) {
    return text[statement.end - 1] === ';' ? statement.end - 1 : statement.end;
}

// Where the n-th token of a statement starts.
function tokenStart(text, node, n) {
    const tokens = tokenizer(text.slice(node.start, node.end), options);
    let token = tokens.getToken();
    for (let i = 0; i < n; i++)
        token = tokens.getToken();
    return node.start + token.start;
}

function unexport(program, statements) {
    for (const node of statements) {
        if (node.type === 'ExportNamedDeclaration' && node.declaration !== null)
            program.remove(node.start, tokenStart(program.text, node, 1));
        else if (node.type === 'ExportNamedDeclaration' && node.source === null)
            program.remove(node.start, node.end);
    }
}

// `export default ...` as the last word: its value is the result, and a function is called.
function exported(program, node) {
    const value = node.declaration, start = tokenStart(program.text, node, 2), declaration = value.type.endsWith('Declaration');
    program.remove(node.start, start);
    if (declaration && value.id !== null) {
        if (value.type === 'FunctionDeclaration')
            program.callAfter(value);
        return;
    }
    program.yield(start, declaration ? value.end : expressionEnd(program.text, node),
                  isFunction(value) || value.type === 'FunctionDeclaration');
}

// An expression that a statement in brackets was meant to be: { ok: 1 }.
function objectText(text, statements) {
    const [block] = statements;
    if (statements.length !== 1 || block.type !== 'BlockStatement' || block.body.some(n => n.type !== 'LabeledStatement'))
        return false;
    return isObjectText(text);
}

function isObjectText(text) {
    const start = text.search(/\S/);
    if (start < 0 || text[start] !== '{')
        return false;
    try {
        const node = parseExpressionAt(text, start, options);
        return isQuiet(text.slice(node.end), true);
    } catch {
        return false;
    }
}

function wholeExpression(program) {
    const start = program.text.search(/\S/), node = parseExpressionAt(program.text, start, options);
    program.yield(start, node.end, false);
}

function shape(program, statements) {
    const significant = statements.filter(n => n.type !== 'EmptyStatement');
    const last = significant[significant.length - 1];
    const { text } = program;
    unexport(program, significant);
    if (last === undefined)
        return;
    if (objectText(text, significant)) {
        wholeExpression(program);
        return;
    }
    if (last.type === 'ExportDefaultDeclaration') {
        exported(program, last);
        return;
    }
    if (significant.length === 1) {
        const declared = last.type === 'ExportNamedDeclaration' ? last.declaration : last;
        if (declared !== null && declared.type === 'FunctionDeclaration') {
            program.callAfter(declared);
            return;
        }
        if (declared !== null && declared.type === 'VariableDeclaration' && declared.declarations.length === 1
            && declared.declarations[0].id.type === 'Identifier' && isFunction(declared.declarations[0].init)) {
            program.callAfter(declared, declared.declarations[0].id.name);
            return;
        }
    }
    // Functions declared below the last expression are hoisted: `main(); async function main() { … }`.
    let i = significant.length - 1;
    while (i > 0 && significant[i].type === 'FunctionDeclaration')
        i--;
    const result = significant[i];
    if (result.type === 'ExpressionStatement' && (i === significant.length - 1 || result.directive === undefined))
        program.yield(result.start, expressionEnd(text, result), false, i < significant.length - 1);
}

const place = (text, pos) => {
    let line = 1, start = 0;
    for (const m of text.slice(0, pos).matchAll(/\r\n|[\r\n\u2028\u2029]/g)) {
        line++;
        start = m.index + m[0].length;
    }
    return { line, column: pos - start };
};

function lineText(text, pos) {
    const { column } = place(text, pos), rest = text.slice(pos).search(/[\r\n\u2028\u2029]/);
    return text.slice(pos - column, rest < 0 ? text.length : pos + rest).trim().slice(0, 200);
}

class Refusal extends Error {
    constructor(message, pos, code) {
        super(message);
        this.pos = pos;
        this.code = code;
    }
}

function connectorNames(bind) {
    try {
        return JSON.parse(bind).connectors.map(c => c.name).join(', ');
    } catch {
        return '';
    }
}

function noModules(what, pos, bind) {
    const names = connectorNames(bind);
    return new Refusal(`${what}: there are no modules here. ${names ? `Call a connector, which is a global: ${names}. ` : ''}`
        + 'What the language itself has (Promise, JSON, Math, Date, Intl, …), console and codemode are globals too', pos, 'no_modules');
}

// import() anywhere in the tree; a walk over plain objects, since acorn's own walker is a package of its own.
function findImport(node) {
    if (node === null || typeof node !== 'object')
        return null;
    if (node.type === 'ImportExpression')
        return node;
    for (const key in node) {
        const value = node[key];
        if (value !== null && typeof value === 'object') {
            const found = findImport(value);
            if (found !== null)
                return found;
        }
    }
    return null;
}

function refuseModules(text, tree, bind) {
    for (const node of tree.body) {
        if (node.type === 'ImportDeclaration')
            throw noModules(`import from '${node.source.value}' is not possible`, node.start, bind);
        if (node.type === 'ExportAllDeclaration' || (node.type === 'ExportNamedDeclaration' && node.source !== null))
            throw noModules(`export from '${node.source.value}' is not possible`, node.start, bind);
    }
    if (text.includes('import')) {
        const found = findImport(tree);
        if (found !== null)
            throw noModules('import() is not possible', found.start, bind);
    }
}

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

function loneArrow(text, body) {
    const significant = body.filter(n => n.type !== 'EmptyStatement');
    const [only] = significant;
    if (significant.length === 1 && only.type === 'ExpressionStatement' && only.expression.type === 'ArrowFunctionExpression')
        return { start: only.start, end: only.end };
    if (significant.length === 1 && only.type === 'ExportDefaultDeclaration' && only.declaration.type === 'ArrowFunctionExpression')
        return { start: tokenStart(text, only, 2), end: only.end };
    return null;
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
            line, column: column + 1, source: lineText(source, e.pos),
            stack: `at (program.js:${line}:${column + 1})`,
        };
        return { error: JSON.stringify({ error }) };
    }
}
