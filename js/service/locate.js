// From the engine's places to the author's. The engine names a call by the end of what is called, a read by the end of the object
// that is read, a name by its end; people, and other engines, look at the start of the name. Which of them a place means
// follows from the text that ran, parsed once more: only when something failed.
import { parseExpressionAt } from 'acorn';
import { excerptOf } from './excerpt.js';
import { options } from './parse.js';
import { phrase } from './phrase.js';

// Beyond this a table would be too large to keep; the engine's own column, which is in the same line, does then.
const MAX_TEXT = 200000;
const BREAK = /\r\n|[\r\n\u2028\u2029]/g;

// Offsets at which the lines of a text start.
function lineStarts(text) {
    const starts = [0];
    for (const m of text.matchAll(BREAK))
        starts.push(m.index + m[0].length);
    return starts;
}

function lineAt(text, starts, n) {
    if (!(n >= 1 && n <= starts.length))
        return '';
    return text.slice(starts[n - 1], n < starts.length ? starts[n] : text.length).replace(/[\r\n\u2028\u2029]+$/, '');
}

// Behind the brackets that an expression stands in, where the engine's place is.
function after(text, end) {
    for (let at = end, rest; ; end = at) {
        rest = /^\s*\)/.exec(text.slice(at, at + 100));
        if (rest === null)
            return end;
        at += rest[0].length;
    }
}

// Points at its first name, as other engines do.
function addPattern(t, pattern, init) {
    const [first] = pattern.properties, end = init === null ? pattern.end : init.end;
    t.patterns.push({ start: pattern.start, end: init !== null && init.type === 'Identifier' ? end - 1 : end, to: (first ?? pattern).start });
}

// Whether a timer with this callback does nothing but settle a promise or abort a signal: `no`, or `() => no(new Error('late'))`.
function isLimit(t, callback) {
    if (callback?.type === 'Identifier')
        return t.settlers.has(callback.name);
    if (callback?.body === undefined)
        return false;
    const [only, more] = callback.body.type === 'BlockStatement' ? callback.body.body : [callback.body];
    const call = only?.expression ?? only?.argument ?? only;
    if (more !== undefined || call?.type !== 'CallExpression' || /\bawait\b/.test(t.text.slice(call.start, call.end)))
        return false;
    const { callee } = call;
    return callee.type === 'Identifier' ? t.settlers.has(callee.name)
        : callee.type === 'MemberExpression' && ['abort', 'resolve', 'reject'].includes(callee.property.name) && callee.object.name !== 'Promise';
}

const ends = {
    __proto__: null,
    Identifier(t, node) {
        t.names.set(node.end, node.start);
    },
    CallExpression(t, { callee, arguments: args, start, end }) {
        if (args[0]?.type === 'CallExpression' && args[0].callee.object?.name === t.helper)
            t.thrower = start;
        if (callee.type === 'Identifier' && callee.name === 'setTimeout' && isLimit(t, args[0]))
            t.limits.add(callee.start);
        // A bracket behind the callee may be the call's own: (f)(1) has it before the arguments.
        const at = after(t.text.slice(0, args.length > 0 ? args[0].start : end - 1), callee.end);
        if (callee.type === 'MemberExpression' && !callee.computed)
            t.others.set(at, callee.property.start);
        else if (callee.type === 'Identifier' || callee.type === 'Super')
            t.others.set(at, callee.start);
        // What notes the place of a throw was inserted: it is the throw that counts.
        if (callee.type === 'MemberExpression' && callee.object.name === t.helper && t.thrower !== null)
            t.others.set(at, t.thrower);
        if (callee.type === 'Super')
            t.supers.add(at);
    },
    NewExpression(t, node) {
        if (node.callee.name === 'Promise') {
            for (const { name } of node.arguments[0]?.params ?? [])
                t.settlers.add(name);
        }
        t.others.set(after(t.text.slice(0, node.arguments.length > 0 ? node.arguments[0].start : node.end - 1), node.callee.end), node.start);
    },
    TaggedTemplateExpression(t, { tag }) {
        t.others.set(after(t.text, tag.end), tag.type === 'MemberExpression' && !tag.computed ? tag.property.start : tag.start);
    },
    MemberExpression(t, { object, property, computed }) {
        // obj . name: the engine's place is the end of the object; of obj?.name it is the same. obj[name] has it at the bracket.
        const at = after(t.text.slice(0, property.start), object.end);
        t.others.set(at, computed ? at : property.start);
    },
    VariableDeclarator(t, { id, init }) {
        if (id.type === 'ArrayPattern' && init !== null)
            t.others.set(id.start, init.start);
        if (id.type === 'ObjectPattern' && init !== null)
            addPattern(t, id, init);
        else if (id.type === 'Identifier')
            t.declared.set(id.name, id.start);
    },
    ThrowStatement(t, { start }) {
        t.thrower = start;
    },
    ClassDeclaration(t, { id }) {
        if (id !== null)
            t.declared.set(id.name, id.start);
    },
    AssignmentExpression(t, { left, right, start, end }) {
        if (left.type === 'ObjectPattern')
            addPattern(t, left, right);
        else if (left.type === 'Identifier')
            t.assigned.push({ start, end, to: start });
        else if (left.type === 'MemberExpression')
            t.stores.add(after(t.text.slice(0, left.property.start), left.object.end));
    },
    SpreadElement(t, { argument, start, end }) {
        t.spreads.push({ start, end, to: argument.start });
    },
    ForOfStatement(t, { left, right }) {
        const of = t.text.indexOf('of', left.end);
        t.others.set(left.type === 'VariableDeclaration' && left.declarations[0].id.type === 'ArrayPattern'
            ? left.declarations[0].id.start : of, right.start);
    },
};

function walk(t, node) {
    const end = ends[node.type];
    if (end !== undefined)
        end(t, node);
    if (node.params !== undefined) {
        t.functions.push(node);
        for (const param of node.params) {
            const pattern = param.type === 'AssignmentPattern' ? param.left : param;
            if (pattern.type === 'ObjectPattern')
                addPattern(t, pattern, null);
        }
    }
    for (const key in node) {
        const value = node[key];
        if (key === 'property' && node.computed === false)
            continue;
        if (value !== null && typeof value === 'object') {
            if (Array.isArray(value)) {
                for (const item of value) {
                    if (item !== null)
                        walk(t, item);
                }
            } else if (typeof value.type === 'string') {
                walk(t, value);
            }
        }
    }
}

function tableOf(run) {
    const t = { text: run, helper: /^\(([\w$]+)=>/.exec(run)?.[1], thrower: null, names: new Map(), others: new Map(), supers: new Set(), stores: new Set(), settlers: new Set(), limits: new Set(), declared: new Map(),
                functions: [], patterns: [], assigned: [], spreads: [] };
    if (run.length <= MAX_TEXT) {
        try {
            walk(t, parseExpressionAt(run, 0, options));
        } catch {
            // Too little stack is left: the engine's places are better than none.
        }
    }
    return t;
}

// Texts of this pass: the program, and modules in which something failed. Of no use to the next pass.
const known = new Map();

function forText({ run, line }) {
    let t = known.get(run);
    if (t === undefined)
        known.set(run, t = { run, line, starts: lineStarts(run), table: tableOf(run) });
    return t;
}

export const forget = () => known.clear();

function originalColumn(rows, line, column) {
    let shift = 0;
    for (const row of rows) {
        if (row[0] === line && column > row[1])
            shift += row[2];
    }
    return Math.max(1, column - shift);
}

const rowOf = (t, at) => {
    let low = 0, high = t.starts.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (t.starts[middle] <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
};

// The innermost function around an offset.
function functionAt(t, at) {
    let found = null;
    for (const f of t.table.functions) {
        if (f.start <= at && at <= f.end && (found === null || f.start >= found.start))
            found = f;
    }
    return found;
}

// The engine gives an async function two frames while it has not waited yet: one inside, and one without a call somewhere behind its
// head. `inner` is the offset of the frame before.
function isOuterHalf(t, inner, at, row) {
    const f = functionAt(t, inner);
    if (f === null || !f.async || f.generator || row < rowOf(t, f.start) || row > rowOf(t, f.body.start))
        return false;
    return !t.table.others.has(at) || (row + 1 < t.starts.length && at >= t.starts[row + 1]);
}

// Of some failures the engine has no place: it tells that of what it did before, or where the function starts. What it must have come
// to next is the first of its kind from there on, in the same function.
function next(t, kind, at) {
    const f = functionAt(t, at);
    let best = null;
    for (const item of kind) {
        if (item.end >= at && (best === null || item.start < best.start) && functionAt(t, item.start) === f)
            best = item;
    }
    return best === null ? undefined : best.to;
}

// Where a name was used before its declaration had run.
function early(t, at) {
    let best;
    for (const [end, start] of t.table.names) {
        if (end >= at && (best === undefined || start < best) && start < (t.table.declared.get(t.run.slice(start, end)) ?? 0))
            best = start;
    }
    return best;
}

// Where what is meant starts, by the engine's offset and words.
function meant(t, at, said) {
    const { names, others, stores, patterns, assigned, spreads } = t.table;
    let to;
    if (said.startsWith("Can't find variable: "))
        to = names.get(at);
    else if (said.startsWith('Cannot access uninitialized variable'))
        to = early(t, at);
    else if (said.startsWith('Right side of assignment cannot be destructured'))
        to = next(t, patterns, at);
    else if (said.startsWith('Attempted to assign to readonly property') && !stores.has(at))
        to = next(t, assigned, at);
    else if (said.startsWith('Spread syntax requires'))
        to = next(t, spreads, at);
    return to ?? others.get(at) ?? names.get(at) ?? at;
}

// One place of the engine's [line, column] as the author's, both from 1, or null for one that says nothing. Of the innermost place,
// `said` is the error's message; of others, `before` is the place further in, if it is of the same text.
function author(t, rows, [line, column], said, before) {
    const row = line - t.line;
    if (!(row >= 0 && row < t.starts.length))
        return [line, column];
    const at = t.starts[row] + column - 1;
    if (before !== null && isOuterHalf(t, t.starts[before[0] - t.line] + before[1] - 1, at, row))
        return null;
    const to = meant(t, at, said);
    t.last = { run: t.run, at, to };
    const there = to === at ? row : rowOf(t, to);
    return [there + t.line, originalColumn(rows, there + t.line, to - t.starts[there] + 1)];
}

// An Error of a class of the author's is made in its constructor; what counts is who made it.
const isOwnConstructor = (t, [line, column]) => t.table.supers.has(t.starts[line - t.line] + column - 1);

// An error that the program made itself has its own words, whichever they are.
const MADE = /^(?:new\s+)?[A-Z]\w*Error\s*\(/;

const what = (t, said) => ({
    message: said === '' || MADE.test(t.run.slice(t.last.to, t.last.to + 80)) ? undefined : phrase(said, t.last),
    isLimit: t.table.limits.has(t.last.to) || undefined,
});

// What the prelude asks for: {said, places: [[line, column, module], ...]}, innermost first, module '' for the program, `said` the
// message; and what it gets:
// {places: [[line, column] or null, ...], message, isLimit, source, caret}: the message in better words, if there are any, whether the
// first place that is no null is a timer's that only sets a time limit, and the line of that place. `textOf` gives {run, map, line, source} by module, or null.
export function locate(asked, textOf) {
    const { said, places } = JSON.parse(asked), out = [];
    let before = null, first = null;
    places.forEach((next, i) => {
        const text = textOf(next[2]), t = text === null ? null : forText(text), rows = text === null || text.map === '' ? [] : JSON.parse(text.map);
        let found = null;
        if (t === null)
            found = [next[0], next[1]];
        else if (!(first === null && i + 1 < places.length && isOwnConstructor(t, next)))
            found = author(t, rows, next, first === null ? said : '', before !== null && before[2] === next[2] ? before : null);
        if (found !== null && first === null)
            first = { text, found, ...(t === null || t.last === undefined ? {} : what(t, said)) };
        out.push(found);
        before = next;
    });
    if (first === null || first.text === null)
        return JSON.stringify({ places: out });
    const [line, column] = first.found, { source } = first.text, { message, isLimit: limit } = first;
    return JSON.stringify({ places: out, message, isLimit: limit, ...excerptOf(lineAt(source, lineStarts(source), line), column - 1) });
}
