// From the text a model wrote to one function expression. The text is parsed whole, as the body of one async function, before
// anything runs; what is inserted goes to places that the parser named, so no text can close the wrapper. Positions stay those of
// the author: what is outside of the program (fences, prose, a hashbang) is blanked, never cut out, and no line is added before it.
import { advise } from './advice.js';
import { fixAwaits } from './await.js';
import { Program } from './edits.js';
import { excerpt } from './excerpt.js';
import { blankClose, clean, unwrap } from './fences.js';
import { bindTo } from './binding.js';
import { takeImports } from './imports.js';
import { isSpace } from './parse.js';
import { holdsFence, NeedsTypes, readText } from './read.js';
import { Refusal } from './refusal.js';
import { loneArrow, shape } from './shape.js';
import { back, compose, keepOnly, Lines, place } from './text.js';
import { helperName, noteThrows } from './throws.js';
import { look, Warnings } from './warnings.js';

// Pieces that are tried as a program, the most likely first.
const MAX_PIECES = 20;

function read(text) {
    const cleaned = clean(text);
    try {
        return { before: cleaned, ...readText(cleaned) };
    } catch (e) {
        e.text ??= cleaned;
        throw e;
    }
}

function numbers(lines) {
    return lines.length === 1 ? `the one at line ${lines[0]}` : `those at lines ${lines.slice(0, -1).join(', ')} and ${lines.at(-1)}`;
}

// Of several code fences the last that is a whole program; those in a language of ours before those without a tag.
function readPieces(source, pieces, warnings) {
    const lines = new Lines(source), full = pieces.filter(p => source.slice(p.start, p.end).trim() !== '');
    const ranked = full.map((p, i) => ({ ...p, i })).sort((a, b) => b.kind - a.kind || b.i - a.i).slice(0, MAX_PIECES);
    if (ranked.length === 0)
        return read(keepOnly(source, pieces[0].start, pieces[0].end));
    const ours = full.filter(p => p.kind > 0), lineOf = p => lines.place(p.at).line;
    let error = null;
    for (const piece of ranked) {
        try {
            const view = read(keepOnly(source, piece.start, piece.end));
            const rest = ours.filter(p => p.start !== piece.start).map(lineOf);
            if (rest.length > 0)
                warnings.add(`there are ${full.length} code fences: the one at line ${lineOf(piece)} was run, ${numbers(rest)} ${rest.length > 1 ? 'were' : 'was'} not; send one program`);
            return view;
        } catch (e) {
            if (e instanceof NeedsTypes)
                throw e;
            error ??= e;
        }
    }
    throw error;
}

// A text that does not read as a program, or only by taking fences for texts, is prose around one.
function readProgram(source, warnings) {
    const { whole, pieces } = unwrap(source);
    if (whole === null)
        return readPieces(source, pieces, warnings);
    if (pieces.length === 0)
        return read(source);
    try {
        const view = read(source);
        if (!holdsFence(view.body))
            return view;
    } catch (e) {
        if (e instanceof NeedsTypes)
            throw e;
    }
    return readPieces(source, pieces, warnings);
}

// The names of the connectors; most programs come with those of the one before.
let latest = { bind: '', names: new Set() };

function connectorNames(bind) {
    if (bind !== latest.bind || latest.names.size === 0) {
        let names = [];
        try {
            names = JSON.parse(bind).connectors.map(c => c.name);
        } catch {
            // Normalised for show only: there are none.
        }
        latest = { bind, names: new Set([...names, 'codemode']) };
    }
    return latest.names;
}

// {"code": "…"}, alone or with what a call of a tool has beside it.
function isCall({ properties }) {
    const texts = properties.filter(p => p.value?.type === 'Literal' && typeof p.value.value === 'string' && p.key.type === 'Literal');
    return texts.length === properties.length && texts.some(p => p.key.value === 'code')
        && texts.every(p => ['code', 'language', 'lang', 'name', 'type', 'description', 'title'].includes(p.key.value));
}

// A text that holds a program as data: it is not guessed at, but said.
function warnOfData({ text, body, alone }, warnings) {
    if (alone && isCall(body[0].expression))
        warnings.add('the text is an object with a member code, which is the result as it is; to run that program, send it alone');
    else if (body.length === 1 && body[0].directive !== undefined && /=>|\breturn\b|\bawait\b/.test(body[0].directive))
        warnings.add('the program is one text in quotes, which is the result as it is; to run what it says, send it without quotes and escapes');
}

function build(source, input, bind, warnings) {
    const view = readProgram(source, warnings), { rows: before } = view;
    view.text = blankClose(view.text);
    const { text } = view, start = text.search(/[^\s\uFEFF]/);
    if (view.how !== undefined)
        warnings.add(view.how);
    if (start < 0 || isSpace(text))
        return { text: 'async () => {}', run: `($cm=>${input === 'own' ? '()=>' : ''}async () => {})`, map: '', line: 1 };
    const lines = new Lines(text), program = new Program(text, input);
    warnings.general = warnings.texts.length;
    warnings.lineOf = pos => lines.place(pos).line;
    // Where types stood between, the bracket may have been behind one.
    warnings.beginsLine = pos => before.length === 0 || isSpace(view.before.slice(0, back(text, view.before, before, pos)).replace(/^.*[\r\n\u2028\u2029]/s, ''));
    try {
        return { ...finish(view, program, start, lines, bind, warnings, before), warnings: warnings.json };
    } catch (e) {
        if (typeof e.pos === 'number')
            e.pos = back(text, view.before, before, e.pos);
        throw e;
    }
}

function finish(view, program, start, lines, bind, warnings, before) {
    const { text, body: statements } = view, { line, column } = lines.place(start), helper = helperName(text);
    const { body, shown, run } = takeImports(program, statements, helper);
    const arrow = body.length < statements.length ? null : loneArrow(text, body);
    warnOfData({ ...view, body }, warnings);
    // What is inserted around the same place stands in the order in which it is made, the outer first.
    if (arrow !== null)
        program.end = text.trimEnd().length;
    else
        shape(program, body, warnings.at);
    noteThrows(program, body, helper);
    if (look(program, body, connectorNames(bind), warnings))
        fixAwaits(program, body, warnings.at, warnings.lineOf);
    if (arrow !== null)
        return finishArrow(program, arrow, start, lines, before, helper);
    const inside = declareImports(program, body, shown, run), head = `(${helper}=>${program.own}async () => {${inside ? '' : run}`;
    const { body: rendered, rows } = program.render(start, head.length - column);
    const print = program.views ? program.render(start, 0, 'shown').body : rendered;
    return {
        text: 'async () => {\n' + (shown && !inside ? shown + '\n' : '') + print.trim() + '\n}',
        run: head + rendered.trimEnd() + '\n})', map: mapOf(before, rows), line,
    };
}

const mapOf = (before, rows) => JSON.stringify(compose(before, rows));

// Directives must stay first: then the declarations of imports stand behind them, and not in the wrapper's head. Whether they do.
function declareImports(program, body, shown, run) {
    const directives = run === '' ? [] : body.filter(n => n.directive !== undefined);
    if (directives.length === 0)
        return false;
    program.only('shown', p => p.append(directives.at(-1).end, '; ' + shown));
    program.only('run', p => p.append(directives.at(-1).end, '; ' + run));
    return true;
}

// Shown as its author wrote it; what runs is the expression without its semicolon.
function finishArrow(program, arrow, start, lines, before, helper) {
    const from = arrow.exported ? arrow.start : start, at = lines.place(arrow.start), head = `(${helper}=>${program.own}(`;
    if (arrow.exported)
        program.end = arrow.end;
    const shown = program.render(from, 0, 'shown').body;
    program.end = arrow.end;
    const { body, rows } = program.render(arrow.start, head.length - at.column);
    return { text: shown.trimEnd(), run: head + body + '\n))', map: mapOf(before, rows), line: at.line };
}

// {text, run, map, line, warnings} or {error}: all text. `run` is evaluated with its first line numbered `line`; `warnings` is a JSON
// array of texts, or empty. `input`: whether there is one; 'own' makes it a function's parameter, where the program is not alone in
// its realm. {types: true} asks for the script that takes types away, after which the same is asked again.
export function normalize(source, input, bind) {
    const warnings = new Warnings();
    bindTo(bind);
    try {
        return build(source, input, bind, warnings);
    } catch (e) {
        if (e instanceof NeedsTypes)
            return { types: true };
        return { error: failure(source, e, warnings) };
    }
}

function failure(source, e, warnings) {
    // What was found in lines that do not run is of no interest; which of several fences was read is.
    const texts = warnings.texts.slice(0, warnings.general), refused = e instanceof Refusal || e.refusal === true;
    // Where the parser ran out of stack, nothing is known but where the program begins.
    let pos = typeof e.pos === 'number' ? Math.min(e.pos, source.length) : Math.max(0, source.search(/\S/));
    // These the parser places behind the character that begins them.
    if (/^Unterminated (?:template|regular)/.test(e.message) && /[`/]/.test(source[pos - 1] ?? ''))
        pos--;
    const { line, column } = place(source, pos);
    const known = refused ? e.message : advise(e.text ?? source, { message: /stack/i.test(e.message) ? 'Not enough stack space' : e.message, pos });
    const error = {
        name: 'SyntaxError',
        message: known.toWellFormed(), code: e instanceof Refusal ? e.code : 'syntax',
        line, column: column + 1, ...excerpt(source, pos),
        stack: `at (program.js:${line}:${column + 1})`,
    };
    return JSON.stringify({ error, warnings: texts.length > 0 ? texts : undefined });
}
