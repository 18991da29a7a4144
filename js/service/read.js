// From a text to its syntax tree: as JavaScript, else as TypeScript, else with the characters that word processors and web pages put
// in place of a program's own.
import { isFunction, isObjectText, parse, parseExpressionAt, walk } from './parse.js';
import { back, compose, keepOnly, replace } from './text.js';

// f<T>(x), which JavaScript reads as two comparisons that nobody would write this way.
const TYPE_ARGUMENTS = /[\w$]<[\w$\s.,|&'"`{}:;?[\]-]{1,300}>+\(/;

// Thrown where the part of the service that knows TypeScript is needed and not loaded; then all is done again.
export class NeedsTypes extends Error {}

function stripTypes(text) {
    if (globalThis.stripTypes === undefined)
        throw new NeedsTypes('types');
    return globalThis.stripTypes(text);
}

// Beyond this a text is no program that somebody wrote by hand, and what takes types away is several times slower than the parser.
const MAX_TYPED = 400000;

// The program as TypeScript: {text, rows, body}. Throws what is wrong with it at a place of `text`.
function readTypes(text) {
    if (text.length > MAX_TYPED)
        throw new RangeError('too long for types');
    const stripped = stripTypes(text);
    try {
        return { ...stripped, body: parse(stripped.text).body };
    } catch (e) {
        if (typeof e.pos === 'number')
            e.pos = back(stripped.text, text, stripped.rows, e.pos);
        throw e;
    }
}

const ENTITIES = { __proto__: null, lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ', '#39': "'", '#34': '"', '#x27': "'", '#x22': '"' };
const ENTITY = /&(lt|gt|amp|quot|apos|nbsp|#39|#34|#x27|#x22);/g;
const QUOTES = { __proto__: null, '\u201c': '\u201d', '\u201d': '\u201d', '\u2018': '\u2019', '\u2019': '\u2019' };
// What shows as nothing, but is no blank of the language.
const INVISIBLE = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064]/;
const MAX_REPAIRS = 500;

// Replacements for the characters at which the parser stops, outside of texts and comments: invisible ones by blanks, a pair of
// typographic quotes by straight ones. Null: there is something else, or nothing.
function repairs(text) {
    const found = [];
    let from = 0, kept = text;
    for (;;) {
        let error;
        try {
            parse(kept);
            return found.length > 0 ? found : null;
        } catch (e) {
            error = e;
        }
        const pos = error.pos, c = kept[pos];
        if (typeof pos !== 'number' || c === undefined || pos < from || found.length >= MAX_REPAIRS)
            return null;
        const edit = INVISIBLE.test(c) ? [[pos, pos + 1, ' ']] : escaped(kept, pos) ?? quoted(kept, pos, QUOTES[c]);
        if (edit === null)
            return null;
        // All of one kind at once: each round reads the whole text again.
        found.push(...edit);
        kept = replace(kept, edit).text;
        from = pos;
        if (found.length > 20 && kept.length > 20000)
            return null;
    }
}

// A line break or a tab as JSON writes it, outside of a text: the program was escaped once too often. Blanks do, where no comment
// would go on to the end of all.
function escaped(text, pos) {
    return text[pos - 1] === '\\' && /[nrt]/.test(text[pos]) && !text.includes('//') ? [[pos - 1, pos + 1, '  ']] : null;
}

function quoted(text, pos, close) {
    if (close === undefined)
        return null;
    const end = text.indexOf(close, pos + 1), inside = text.slice(pos + 1, end);
    if (end < 0 || /[\r\n]/.test(inside))
        return null;
    const quote = ['"', "'", '`'].find(q => !inside.includes(q));
    return quote === undefined || (quote === '`' && inside.includes('${')) ? null : [[pos, pos + 1, quote], [end, end + 1, quote]];
}

function repair(text) {
    const decoded = text.includes('&') ? [...text.matchAll(ENTITY)].map(m => [m.index, m.index + m[0].length, ENTITIES[m[1]]]) : [];
    if (decoded.length > 0)
        return { ...replace(text, decoded), how: 'HTML entities such as &lt; were read as the characters they stand for' };
    const found = repairs(text);
    return found === null ? null
        : { ...replace(text, found.sort((a, b) => a[0] - b[0])), how: found.some(([, , by]) => by === '  ')
            ? 'line breaks written as \\n were read as blanks; send them as they are'
            : 'typographic quotes and invisible characters were read as plain ones' };
}

// `async () => { … }()`: a call of it was meant, which is what becomes of a function alone.
function withoutCall(text, pos) {
    const call = /^\(\s*\)\s*;?\s*$/.exec(text.slice(pos));
    if (call === null || !/\}\s*$/.test(text.slice(0, pos)))
        return null;
    const alone = keepOnly(text, 0, pos), { body } = attempt(() => parse(alone)).view ?? { body: [] };
    return body.length === 1 && isFunction(body[0].expression ?? null) ? { text: alone, rows: [], body } : null;
}

// The object literal at `at`, which the parser takes for a block, as the statement that it was meant to be.
function objectAt(text, at) {
    const expression = parseExpressionAt(text, at);
    return { type: 'ExpressionStatement', start: expression.start, end: expression.end, expression, isLiteral: true };
}

const wholeObject = text => ({ text, rows: [], body: [objectAt(text, text.search(/\S/))], alone: true });

// `const a = 1; { a, b: 2 }`: what stands last is an object, in place of a block that cannot be read.
function withTail(text, pos) {
    let at = pos;
    for (let i = 0; i < 5 && at > 0; i++) {
        at = text.lastIndexOf('{', at - 1);
        if (at < 0)
            return null;
        if (!/(?:^|[;}\r\n])[ \t]*$/.test(text.slice(Math.max(0, at - 100), at)) || !isObjectText(text, at))
            continue;
        try {
            // In brackets it must be the last statement: its own may stand in a comment or a text, and what it is within may be strict.
            const object = objectAt(text, at), { body } = parse(`${text.slice(0, at)}(${text.slice(at, object.end)})`);
            if (body.pop().start !== at)
                return null;
            return { text, rows: [], body: [...body, object] };
        } catch {
            return null;
        }
    }
    return null;
}

function attempt(f) {
    try {
        return { view: f() };
    } catch (error) {
        if (error instanceof NeedsTypes)
            throw error;
        return { error };
    }
}

// Whether at `pos` markup begins, which types cannot be taken for.
const isMarkup = (text, pos) => typeof pos === 'number' && /^<(?:[A-Za-z][\w.-]*(?=[\s/>])|>)/.test(text.slice(pos, pos + 100))
    && /<\/[\w.-]*\s*>|\/>/.test(text.slice(pos));

// Types were read up to `pos`: whether markup in that line stopped them.
function markupBefore(text, pos) {
    const from = text.lastIndexOf('\n', pos - 1) + 1, found = /(?:[=(?:,&|]|return|^)\s*(?=<[A-Za-z][\w.-]*[\s>/])/.exec(text.slice(from, from + 1000));
    const at = found === null ? -1 : from + found.index + found[0].length;
    return at >= 0 && isMarkup(text, at) ? Object.assign(new SyntaxError('Unexpected token'), { pos: at }) : null;
}

const posOf = error => (typeof error.pos === 'number' ? error.pos : -1);

// {view} or {error}: as JavaScript, but for arguments that are types.
function readPlain(text) {
    const plain = attempt(() => ({ text, rows: [], body: parse(text).body }));
    return plain.view === undefined || !TYPE_ARGUMENTS.test(text) ? plain : { view: attempt(() => readTypes(text)).view ?? plain.view };
}

// {text, rows, body, how?, alone?}: what `text` was read as, with the rows that lead back to it. alone: it is one object literal.
export function readText(text) {
    const plain = readPlain(text);
    if (plain.view !== undefined)
        return plain.view;
    if (isObjectText(text))
        return wholeObject(text);
    const called = withoutCall(text, posOf(plain.error));
    if (called !== null)
        return called;
    const tail = withTail(text, posOf(plain.error));
    if (tail !== null)
        return tail;
    // Neither markup nor an escaped line break is anything else under types.
    if (isMarkup(text, plain.error.pos))
        throw plain.error;
    const typed = attempt(() => readTypes(text));
    if (typed.view !== undefined)
        return typed.view;
    if (typed.error.refusal === true)
        throw typed.error;
    const markup = markupBefore(text, posOf(typed.error));
    if (markup !== null)
        throw markup;
    const repaired = repair(text);
    if (repaired !== null) {
        const again = attempt(() => readRepaired(text, repaired));
        if (again.view !== undefined)
            return again.view;
    }
    // What is no token at all is none with types either; else whichever came further knows better what is wrong.
    if (/^Un(?:terminated|expected character)/.test(plain.error.message))
        throw plain.error;
    throw posOf(typed.error) > posOf(plain.error) && text[posOf(plain.error)] !== '\\' ? typed.error : plain.error;
}

function readRepaired(text, { text: mended, rows, how }) {
    const view = readPlain(mended).view ?? (isObjectText(mended) ? wholeObject(mended) : readTypes(mended));
    return { ...view, rows: compose(rows, view.rows), how };
}

// Whether a fence was read as template literals: one that calls what another gives, in a row without anything between.
export function holdsFence(body) {
    let found = false;
    for (const statement of body)
        walk(statement, node => { found ||= node.type === 'TaggedTemplateExpression' && /^T(?:aggedT)?emplate/.test(node.tag.type); });
    return found;
}
