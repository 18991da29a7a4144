// The engine's words for what went wrong at run time, as whoever wrote the program would say them: which expression it was, what it
// is, what to write instead. What is not known here stays as it came.
import { parseExpressionAt } from 'acorn';
import { options } from './parse.js';

const OBJECTS = /^(?:Array|Object|Promise|JSON|Math|Number|String|Date|Symbol|Reflect|Intl|Map|Set|crypto|performance|console)$/;
const MAX_TEXT = 120;

const shorten = text => (text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) + '…' : text).replace(/\s*\n\s*/g, ' ');

function expression(text, at = 0) {
    try {
        return parseExpressionAt(text, at, options);
    } catch {
        return null;
    }
}

const textAt = (text, at) => {
    const node = expression(text, at);
    return node === null ? '' : text.slice(node.start, node.end);
};

const rootOf = text => /^[A-Za-z_$][\w$]*/.exec(text)?.[0] ?? '';

// A call whose promise was kept where its value was meant: " …", or nothing.
function forgottenAwait(run, text) {
    const root = rootOf(text);
    if (root === '')
        return '';
    const made = new RegExp(`\\b(?:const|let|var)\\s+${root.replaceAll('$', '\\$')}\\s*=\\s*([A-Za-z_$][\\w$]*)\\.([\\w$]+)\\s*\\(`).exec(run);
    if (made === null || (OBJECTS.test(made[1]) && made[1] !== 'Promise'))
        return '';
    return `. ${root} is a promise that was not awaited: write ${root} = await ${made[1]}.${made[2]}(…)`;
}

// The member access that an evaluated text is about: {object, member} as texts.
function memberOf(text) {
    let node = expression(text);
    while (node !== null && node.type !== 'MemberExpression')
        node = node.left ?? node.callee ?? node.argument ?? node.tag ?? node.expression ?? null;
    if (node === null)
        return null;
    // JSC leaves the brackets of a parenthesised object out of the node, not out of the text.
    const object = text.slice(node.start, node.property.start).replace(/\s*(?:\?\.|\.|\[)\s*$/, '').trim();
    const member = text.slice(node.property.start, node.property.end);
    return { object, member: node.computed ? `[${member}]` : `'${member}'` };
}

const kindOf = text => text.replace(/^an instance of (.*)$/, (_, name) => (name === 'Object' ? 'an object' : `an object of class ${name}`));

// `await service.method(…).member`, where the member is asked of the promise.
function memberOfCall(object) {
    const found = /^([A-Za-z_$][\w$]*)\.([\w$]+)\([\s\S]*\)\.([\w$]+)$/.exec(object);
    return found === null || OBJECTS.test(found[1]) ? ''
        : `. Where the call gives a promise, its value has the member: (await ${found[1]}.${found[2]}(…)).${found[3]}`;
}

function notAnObject(c, [, value, evaluated]) {
    const whole = expression(evaluated), found = whole === null || /^(?:Call|New)Expression$/.test(whole.type) ? null : memberOf(evaluated);
    if (found === null)
        return `${value} stands where an object is needed, in: ${shorten(evaluated)}`;
    const taken = found.object === 'this' ? '. A method that is taken out of its object loses this: call it as object.method()' : '';
    return `${shorten(found.object)} is ${value}, so ${found.member} cannot be read from it${taken}`
        + (forgottenAwait(c.run, found.object) || memberOfCall(found.object));
}

const PAGE = 'a service often answers with an object whose member is the list';

// A method of lists on something that has none.
function noList(callee, is) {
    const found = /^([\s\S]*)\.(?:map|filter|forEach|reduce|find|some|every|slice|sort|toSorted|flatMap|join|push|at)$/.exec(callee);
    return found === null || is !== 'undefined' ? '' : `. ${shorten(found[1])} is not a list: look at it with console.log; ${PAGE}`;
}

// `github.issues.list`: a name that the program has not made itself.
function isDeepMethod(run, callee) {
    const root = /^([A-Za-z_$][\w$]*)\.[\w$]+\.[\w$]+$/.exec(callee)?.[1];
    return root !== undefined && !OBJECTS.test(root) && !/^(?:globalThis|this|codemode|URL|AbortSignal|input)$/.test(root)
        && !new RegExp(`\\b(?:const|let|var|function|class|of|in)\\s+(?:[\\w$]+\\s*,\\s*)*${root.replaceAll('$', '\\$')}\\b|[[{(,]\\s*${root.replaceAll('$', '\\$')}\\s*[\\]}),=]|\\b${root.replaceAll('$', '\\$')}\\s*(?:=|=>)`).test(run);
}

function notAFunction(c, [, callee, call, , is]) {
    if (/^an instance of ProxyObject$/.test(is)) {
        const method = /^[\w$]+\(\s*['"]([A-Za-z_$][\w$]*)['"]/.exec(call)?.[1] ?? 'method';
        return `${callee} is not a function but an object with methods, as a connector is: write ${callee}.${method}({ … })`;
    }
    const many = /^[\s\S]* of ([\s\S]+)$/.exec(callee);
    if (many !== null && expression(callee)?.end !== callee.length)
        return `${shorten(many[1])} gives nothing that for await could go through: await it, and go through the list in its answer, `
            + 'for (const item of (await …).items) { … }';
    if (is === 'undefined' && isDeepMethod(c.run, callee))
        return `${callee} is not a function: methods stand directly on their connector, as in ${rootOf(callee)}.method({ … }), and `
            + `codemode.search("${callee.replace(/[._]/g, ' ')}") finds them`;
    return `${shorten(callee)} is not a function: it is ${shorten(kindOf(is))}${forgottenAwait(c.run, callee) || noList(callee, is)}`;
}

function notIterable(c) {
    const what = textAt(c.run, /^of\b/.test(c.run.slice(c.to, c.to + 3)) ? c.to + 2 : c.to).trim();
    return `${what === '' ? 'The value' : shorten(what)} is not iterable: a list, a Set, a Map or a text is needed here${forgottenAwait(c.run, what) || `; ${PAGE}`}`;
}

function notDestructured(c) {
    const before = /\{\s*([\w$]+)[^{}]*\}\s*=\s*$/.exec(c.run.slice(0, c.to)), name = before === null ? rootOf(c.run.slice(c.to)) : before[1];
    return `${name === '' ? 'Nothing' : `'${name}'`} cannot be taken out of undefined or null`;
}

function early(c) {
    // Where no name of an early use was found, the place is that of a member: what it was asked of is meant.
    const name = /([A-Za-z_$][\w$]*)\s*(?:\?\.|\.)\s*$/.exec(c.run.slice(0, c.to))?.[1] ?? rootOf(c.run.slice(c.to));
    if (name === '')
        return 'A variable was used before its declaration (let, const or class) had run';
    const hides = new RegExp(`\\b(?:const|let)\\s+${name.replaceAll('$', '\\$')}\\s*=\\s*(?:await\\s+)?${name.replaceAll('$', '\\$')}\\s*\\.`).test(c.run);
    return `${name} was used before its declaration (let, const or class) had run`
        + (hides ? `. The variable hides the connector of the same name: call the variable something else` : '');
}

function readOnly(c) {
    const name = rootOf(c.run.slice(c.to));
    if (!/\.\s*$/.test(c.run.slice(0, c.to)) && c.to !== c.at && new RegExp(`\\bconst\\b[^;]*\\b${name.replaceAll('$', '\\$')}\\b`).test(c.run))
        return `${name} is declared with const and cannot be assigned to: declare it with let`;
    const target = /^[\w$]+(?=\s*(?:[-+*/%&|^?]|\*\*|<<|>>>?|&&|\|\||\?\?)?=)/.exec(c.run.slice(c.to))?.[0];
    return `${target === undefined ? 'What is assigned to here' : `'${target}'`} is read-only: its object is frozen, or has a getter alone`;
}

function notJson(_, [, why]) {
    if (/identifier "object"/.test(why))
        return 'JSON.parse was given an object, not a text: it is data already, and is used as it is';
    if (/identifier "undefined"/.test(why))
        return 'JSON.parse was given undefined, not a text';
    return `The text is not JSON: ${why.charAt(0).toLowerCase()}${why.slice(1)}`;
}

// Steps from one name to another: letters left out, put in or exchanged.
function distance(a, b) {
    let row = Array.from({ length: b.length + 1 }, (_, i) => i);
    for (let i = 1; i <= a.length; i++) {
        const next = [i];
        for (let k = 1; k <= b.length; k++)
            next.push(Math.min(row[k] + 1, next[k - 1] + 1, row[k - 1] + (a[i - 1] === b[k - 1] ? 0 : 1)));
        row = next;
    }
    return row[b.length];
}

// A name of the program's own that may have been meant. What the prelude knows of globals comes before it.
function notDefined({ run }, [, name]) {
    const limit = name.length < 4 ? 1 : 2;
    let best;
    for (const [, other] of run.matchAll(/\b(?:const|let|var|class|function\*?)\s+([A-Za-z_$][\w$]*)/g)) {
        const n = name.length > 40 || Math.abs(other.length - name.length) > limit ? 99
            : other.toLowerCase() === name.toLowerCase() ? 0 : distance(name, other);
        if (n <= limit && (best === undefined || n < best.n))
            best = { n, other };
    }
    return best === undefined ? undefined : `Did you mean ${best.other}?`;
}

// [the engine's words, ours]; `c` is {run, at, to}: the text that ran, the engine's offset, and where what is meant starts.
const PHRASES = [
    [/^Can't find variable: ([\w$]+)$/, notDefined],
    [/^(undefined|null) is not an object \(evaluating '([\s\S]*)'\)$/, notAnObject],
    [/^([\s\S]*?) is not a function\. \(In '([\s\S]*)', '([\s\S]*)' is ([\s\S]*)\)$/, notAFunction],
    [/^undefined is not a function \(near '\.\.\.[\s\S]*\.\.\.'\)$/, notIterable],
    [/^("[\s\S]*"|'[\s\S]*') is not a function \(near '\.\.\.[\s\S]*`[\s\S]*\.\.\.'\)$/,
        () => 'A template (`…`) stands directly behind a text, which calls the text: an operator or a semicolon is missing between them'],
    [/^Spread syntax requires/, c => `${shorten(textAt(c.run, c.to)) || 'What is spread'} is not iterable: it is undefined or null`
        + forgottenAwait(c.run, textAt(c.run, c.to))],
    [/^Right side of assignment cannot be destructured/, notDestructured],
    [/^[\s\S]*? is not a constructor \(evaluating 'new ([\s\S]*)'\)$/,
        (_, [, made]) => `${shorten(/^[\w$.]*/.exec(made)[0] || made)} is not a constructor: new needs a class or a function`],
    [/^Attempted to assign to readonly property/, readOnly],
    [/^Cannot access uninitialized variable/, early],
    [/^Cannot call a class constructor without \|new\|/, c => {
        const name = rootOf(c.run.slice(c.to)) || 'the class';
        return `${name} is a class and cannot be called: write new ${name}(…)`;
    }],
    [/^([\s\S]*) is not an Object\. \(evaluating '([\s\S]*)'\)$/, (_, [, value, all]) => `${shorten(value)} is not an object, and an object is needed in: ${shorten(all)}`],
    [/^Cannot access invalid private field \(evaluating '([\s\S]*)\.(#[\w$]+)'\)$/,
        (_, [, object, field]) => `${shorten(object)} has no private member ${field}: it is not an instance of that class`],
    [/^Type error$/, c => (/^new\s+(?:Weak)?Map\b/.test(c.run.slice(c.to)) ? 'new Map takes a list of [key, value] pairs: new Map(Object.entries(object))'
        : `What was given does not fit, in: ${shorten(textAt(c.run, c.to)) || 'this call'}`)],
    [/^undefined is not a function$/, c => {
        const name = /^(?:all|allSettled|any|race)\b/.exec(c.run.slice(c.to))?.[0];
        return name === undefined ? undefined : `Promise.${name} takes a list of promises: Promise.${name}([…])`;
    }],
    [/^Not an integer$/, () => 'BigInt takes whole numbers: BigInt(Math.round(x))'],
    [/^Invalid Date$/, () => 'Invalid date: what it was made of is not understood as a date; 2025-12-31 and 2025-12-31T12:00:00Z are'],
    [/^JSON Parse error: ([\s\S]*)$/, notJson],
    [/^JSON\.stringify cannot serialize cyclic structures\.?$/,
        () => 'JSON.stringify cannot serialize cyclic structures: an object contains itself; leave that member out'],
    [/^URI error$/, () => 'URI error: a % in the text is not followed by two hexadecimal digits that make a character; encodeURIComponent writes them'],
    [/^'super\(\)' must be called/, () => 'super() must be called before this is used in the constructor of a class that extends another'],
    [/^JSON\.stringify cannot serialize BigInt\.?$/, () => 'JSON.stringify cannot serialize a BigInt: turn it into text with String(n) first'],
    [/^Invalid mix of BigInt and other type/, () => 'A BigInt and a number do not mix: write 1n, or make both one kind with Number(…) or BigInt(…)'],
    [/^([\s\S]*?)\.? \(evaluating '([\s\S]*)'\)$/, (_, [, what, where]) => `${what}, in: ${shorten(where)}`],
];

export function phrase(said, c) {
    for (const [words, ours] of PHRASES) {
        const found = words.exec(said);
        if (found !== null)
            return ours(c, found);
    }
    return undefined;
}
