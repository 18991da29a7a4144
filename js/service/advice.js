// What a syntax error most likely means and what to write instead, where the parser's own words would leave a model to guess.
import { tokenizer } from 'acorn';
import { fences } from './fences.js';
import { options } from './parse.js';
import { Lines } from './text.js';

const WORD = /^(?:[\p{ID_Start}$_][\p{ID_Continue}$]*|\d[\w.]*|\.\.\.|=>|\?\?|\?\.|&&|\|\||[^\s])/u;
const CLOSES = { '(': ')', '[': ']', '{': '}', '${': '}' };
const ENTITY = /&(?:lt|gt|amp|quot|apos|#\d+|#x[\da-f]+);/i;
const MEANT = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const code = c => 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

// Characters that look like one of the language: [which, what to do].
const LOOKALIKES = [
    [/[\u201C-\u201F\u2033\u00AB\u00BB]/, 'use straight quotes: "'],
    [/[\u2018-\u201B\u2032\u00B4]/, "use straight quotes: '"],
    [/[\u2010-\u2015\u2212]/, 'use the minus of the keyboard: -'],
    [/\u2026/, 'use three dots: ...'],
    [/[\u200B-\u200F\u2060-\u2064\u00AD\uFEFF]/, 'it has no width and cannot be seen; delete it'],
    [/\u00D7/, 'use *'],
    [/[\u2264\u2265\u2260]/, 'use <=, >= or !=='],
    [/[\uFF01-\uFF5E]/, 'use the narrow form of it'],
];

function character(c) {
    const known = LOOKALIKES.find(([which]) => which.test(c));
    const shown = known !== undefined && /no width/.test(known[1]) ? '' : ` '${c}'`;
    return `Unexpected character${shown} (${code(c)})` + (known ? `: ${known[1]}` : '');
}

// What is open at `pos`: [{text, line}, …], outermost first.
function openAt(text, pos) {
    const open = [], lines = new Lines(text);
    try {
        for (const token of tokenizer(text, options)) {
            if (token.start >= pos)
                break;
            const { label } = token.type;
            if (CLOSES[label] !== undefined)
                open.push({ text: label, line: lines.place(token.start).line });
            else if (open.length > 0 && CLOSES[open[open.length - 1].text] === label)
                open.pop();
        }
    } catch {
        // What stands behind is not read; what is open up to there is known.
    }
    return open;
}

const opener = o => `the '${o.text}' of line ${o.line}`;

function tooSoon(open, before) {
    if (open.length === 0) {
        const last = /(?:=>|\*\*|&&|\|\||\?\?|[!=<>]=+|[-+*/%=<>&|^?:,.]|\b(?:return|throw|await|new|typeof|in|of|case|extends))\s*$/.exec(before);
        return 'The program ends too soon' + (last === null ? '' : `: a value is missing behind ${last[0].trim()}`);
    }
    return `The program ends too soon: ${opener(open[open.length - 1])} is not closed`
        + (open.length > 1 ? `, nor ${open.length === 2 ? opener(open[0]) : `${open.length - 1} brackets before it`}` : '');
}

// The function around an await that is not async, as its author would write it: "function load(" or "id =>".
function enclosing(before) {
    const heads = [...before.slice(-2000).matchAll(/(async\s+)?(?:function\s*([\w$]*)\s*\(|(\([^()]*\)|[\w$]+)\s*=>)/g)].filter(m => m[1] === undefined);
    if (heads.length === 0)
        return '';
    const [, , name, parameters] = heads[heads.length - 1];
    return parameters === undefined ? `async function${name ? ' ' + name : ''}(…)` : `async ${parameters} => …`;
}

function strayAwait({ before }) {
    const head = enclosing(before), callback = /\.(map|forEach|filter|reduce|flatMap|some|every)\(/.test(before.slice(-300));
    return 'await stands only at the top level or in a function marked async' + (head ? `: write ${head}` : '')
        + (callback ? '. A list of such calls is awaited with await Promise.all(list.map(async x => …))' : '');
}

const PYTHON = 'This looks like Python, and a program here is JavaScript';

// First match wins: [whether it is that, what to say]. `c` is {message, text, pos, before, rest, token, line, open()}.
const RULES = [
    [c => c.message.startsWith('Not enough stack space'),
        () => 'The program is nested too deeply to be read; bring data in through a call or a text instead of such a literal'],
    [c => c.message.startsWith('Await expression cannot be a default'),
        () => 'await cannot stand in the default of a parameter: leave the default out, and begin the body with if (name === undefined) name = await …'],
    [c => c.message.startsWith('Yield expression cannot be a default'), () => 'yield cannot stand in the default of a parameter'],
    [c => c.message.startsWith("Cannot use 'await' as identifier"), () => 'await is a word of the language here and no name: take another'],
    [c => /\bawait\s*$/.test(c.before) || c.rest.startsWith('await'), strayAwait],
    [c => ENTITY.test(c.line), c => {
        const [entity] = ENTITY.exec(c.line), meant = MEANT[entity.slice(1, -1).toLowerCase()];
        return `${entity} is HTML${meant ? ` for ${meant}` : ''}: send the program itself, not escaped for a page`;
    }],
    [c => /^\s*#/.test(c.line) && c.message.startsWith('Unexpected character'),
        () => '# begins no comment in JavaScript: use //. A heading or other text stands outside of the program, which then is in one code fence'],
    [c => /^\s*def\s+\w+\s*\(/.test(c.line), () => `${PYTHON}: async function main() { … } where Python has def main():`],
    [c => /^[ \t]*(?:import[ \t]+[\w.]+(?:[ \t]+as[ \t]+\w+)?|from[ \t]+[\w.]+[ \t]+import\b.*)[ \t]*$/m.test(c.text)
        || /^\s*(?:for|while|if|with|class|try|except)\b[^{]*:\s*(?:#.*)?$/.test(c.line),
        () => `${PYTHON}: blocks stand in { }, and there is nothing to import`],
    [c => c.token === 'elif' || /\belif\s*$/.test(c.before) || /\}\s*elif\b/.test(c.line), () => 'JavaScript has else if, not elif'],
    [c => c.token === 'and' || c.token === 'or', c => `Unexpected '${c.token}': JavaScript has && and ||`],
    [c => /\bnot\s*$/.test(c.before), () => "Unexpected word behind 'not': JavaScript has !"],
    [c => /\bf$/.test(c.before) && /^["']/.test(c.rest), () => 'An f-string is Python; JavaScript has templates: `Hello ${name}`'],
    [c => c.token === 'for' && c.within('['), () => 'JavaScript has no list comprehensions: use list.map(x => …) and list.filter(x => …)'],
    [c => c.before.trim() === '' && /^<[a-z]+[_:][\w:.-]*[\s>]/i.test(c.rest),
        c => `${/^<[^\s>]+/.exec(c.rest)[0]}> is markup around the program: send the program alone`],
    [c => /^\\[nrt]/.test(c.text.slice(c.text.lastIndexOf('\\', c.pos))) && /\\[nrt]\w*\s*$/.test(c.before)
        || (c.before.endsWith('\\') && /^[nrt]/.test(c.rest)),
        () => 'A line break stands here as the two characters \\n: the program was escaped once too often. Send it with its line breaks as they are'],
    [c => /^<(?:!--|!doctype|script|html)\b/i.test(c.rest), c => `${/^<[!\w-]+>?/.exec(c.rest)[0]} is HTML: send the program alone`],
    [c => /^<[A-Z][A-Z_ ]+>/.test(c.rest) || /<[A-Z][A-Z_ ]+>\s*$/.test(c.before),
        c => `${(/^<[^>]+>/.exec(c.rest) ?? /<[^<>]+>(?=\s*$)/.exec(c.before))[0]} is a placeholder: put the value itself there`],
    [c => /^<[\w>/]/.test(c.rest) && c.message.startsWith('Unexpected token'),
        () => 'JSX is not part of JavaScript and there is nothing here to show it: return data, or build text with a template'],
    [c => c.message === 'Unterminated string constant',
        () => 'The string that begins here is not closed on its line: close it, or use a template (`…`) for text over several lines'],
    [c => c.message === 'Unterminated template', () => 'The template that begins here (`) is not closed'],
    [c => c.message === 'Unterminated template literal', () => 'A template (`…`), or a ${…} in it, is not closed before this place'],
    [c => c.message === 'Unterminated comment', () => 'The comment that begins here is not closed: end it with */'],
    [c => c.message === 'Unterminated regular expression', () => 'The regular expression that begins here is not closed: end it with /'],
    [c => c.message.startsWith('Missing catch'), () => 'try needs a catch or a finally: try { … } catch (e) { … }'],
    [c => c.message.startsWith('Shorthand property'), () => "Unexpected '=' in an object: a member is written name: value"],
    [c => c.message.startsWith('Optional chaining cannot'), () => '?. cannot stand where something is assigned to: make sure that the object exists, then use .'],
    [c => c.message.startsWith('Logical expressions and coalesce'), () => '?? cannot stand beside || or && without brackets: write (a ?? b) || c'],
    [c => c.message.startsWith('Expecting Unicode escape'), () => 'A backslash stands outside of a text, where it begins no more than \\uXXXX in a name: leave it out'],
    [c => c.message === 'Invalid number' && /^0\d/.test(c.rest), () => 'Octal numbers are written 0o10; a number has no leading zero'],
    [c => /^Unsyntactic (?:break|continue)$/.test(c.message), c => `${c.token} stands only in a loop${c.token === 'break' ? ' or a switch' : ''}; return ends the program`],
    [c => c.message === 'Assigning to rvalue', () => 'Only a variable or a member of an object can be assigned to'],
    [c => c.message === 'Identifier directly after number', c => `Unexpected '${c.token}' directly behind a number`],
    [c => c.message.startsWith('Bad character escape'), () => 'An escape in this text is not complete: \\u takes four hexadecimal digits, \\x two, and a backslash itself is \\\\'],
    [c => c.message.endsWith('has already been declared'), c => c.message + ': take another name, or assign to it without declaring it again'],
    [c => c.message.startsWith('Unexpected keyword'), c => c.message + ': a word of the language is no name'],
    [c => c.message.startsWith('Unexpected character'), c => character(c.rest === '' ? ' ' : String.fromCodePoint(c.rest.codePointAt(0)))],
    [c => c.message.startsWith('Unexpected token'), unexpected],
];

// Where the parser knows no more than that something else was expected.
const UNEXPECTED = [
    [c => c.rest.startsWith('**'), () => "Unexpected '**': what it raises has brackets where a sign or await stands before it: (await f()) ** 2, (-x) ** 2"],
    [c => c.token === '=>' && /\bfunction\b[^{}]*\)\s*$/.test(c.before), () => "Unexpected '=>': write function name(x) { … } or (x) => …, not both"],
    [c => /\b(?:if|while|for|switch)\s*$/.test(c.before),
        c => `Unexpected '${c.token}': ${/(\w+)\s*$/.exec(c.before)[1]} has its condition in brackets: ${/(\w+)\s*$/.exec(c.before)[1]} (…)`],
    [c => c.token === '{' && /\bclass\s*$/.test(c.before), () => "Unexpected '{': a class has a name: class Name { … }"],
    [c => /\byield\s*$/.test(c.before), c => `Unexpected '${c.token}': yield stands only in a function*`],
    [c => /\b(?:case\s+[^:;{}\n]+|default\s*)$/.test(c.before) && /^[\w$"'{[(]/.test(c.token), c => `Unexpected '${c.token}': a colon is missing before it, as in case 1: …`],
    [c => c.token === ',' && /(?:=|\basync)\s*[\w$]+\s*$/.test(c.before) && /^,[^()=]*=>/.test(c.rest),
        () => "Unexpected ',': several parameters have brackets around them: (a, b) => …"],
    [c => /\bfor\s*\(\s*(?:let|const|var)\b[^;()]*,[^;()]*$/.test(c.before) && /^[<>=!]/.test(c.rest),
        c => `Unexpected '${c.token}': the parts of for (…; …; …) have semicolons between them`],
    [c => c.token === ';' && c.within('{') && /[{,]\s*[\w$'"]+\s*:[^{};]*$/.test(c.before), () => "Unexpected ';': members of an object have commas between them"],
    [c => c.token === ':' && /,\s*,\s*[\w$'"]+\s*$/.test(c.before), () => "Unexpected ':': two commas stand before this member; one is enough"],
    [c => /^\s*>\s/.test(c.line), () => "'>' begins a quotation of Markdown: send the program alone"],
    [c => /^\s*\.\.\.\s*$/.test(c.line), () => '... does not stand for what was left out: send the whole program'],
    [c => /^\s*(?:\$ |curl |npm |npx |pip |git |cd |ls |sudo |echo )/.test(c.line),
        () => 'This is a shell command, and a program here is JavaScript: it calls connectors and returns a value'],
    [c => /^\s*(?:SELECT|INSERT|UPDATE|DELETE)\s/.test(c.line), () => 'This is SQL, and a program here is JavaScript: it calls connectors and returns a value'],
    [c => /^\s*[A-Z][\w']*,?(?: [\w',.:;!?-]+){2,}\s*$/.test(c.line),
        () => 'This reads like prose, not JavaScript: send the program alone, or in one code fence'],
    [c => /^\s*\d+ ?[|:]/.test(c.line), c => `Unexpected '${c.token}': the line begins with its number; send the program without line numbers`],
    [c => c.token === '' , c => tooSoon(c.open(), c.before)],
    [c => fences(c.text).length > 1, c => `Unexpected '${c.token}'. Send one program: there are several code fences in the text`],
    [c => /\bconst\s+[\w$]+\s*$/.test(c.before), c => {
        const [, name] = /\bconst\s+([\w$]+)\s*$/.exec(c.before);
        return `const ${name} needs a value; for one that comes later use let ${name}`;
    }],
    [c => /[:,]/.test(c.token) && /=>\s*\{[^{}]*$/.test(c.before),
        c => `Unexpected '${c.token}': an arrow function that gives an object has brackets around it: x => ({ … })`],
    [c => /["']$/.test(c.before) && /^[\w$]/.test(c.rest),
        c => `Unexpected '${c.token}' directly behind a string: a quote inside of a text is written \\' or \\", or the text stands in other quotes`],
    [c => ')]}'.includes(c.token) && c.open().length === 0, c => `Unexpected '${c.token}': nothing is open that it would close; leave it out`],
    [c => ')]}'.includes(c.token) && CLOSES[c.top().text] !== c.token, c => `Unexpected '${c.token}': ${opener(c.top())} is still open`],
    [c => /^(?:;|return|const|let|var|if|for|while|throw|try|function|class)$/.test(c.token) && (c.within('(') || c.within('[')),
        c => `Unexpected '${c.token}': ${opener(c.top())} is not closed`],
    [c => /^(?:return|const|let|var|if|for|while|throw|try|function|class)$/.test(c.token) && /[\w$)\]}"'`][ \t]*$/.test(c.before),
        c => `Unexpected '${c.token}': a semicolon or a line break is missing before it`],
    [c => /^(?:else|catch|finally|case|default)$/.test(c.token), c => `Unexpected '${c.token}': nothing that it belongs to stands before it`],
    [c => /^[-+]\s/.test(c.line) && /^[-+]\s/m.test(c.text.slice(c.text.indexOf(c.line) + c.line.length)),
        c => `Unexpected '${c.token}': the lines begin with the signs of a diff; send the program itself`],
    [c => /^[;)\]},]$/.test(c.token) && /(?:=>|\*\*|&&|\|\||\?\?|[-+*/%=<>&|^?:])\s*$/.test(c.before), c => {
        const [operator] = /(?:=>|\*\*|&&|\|\||\?\?|[!=<>]=+|[-+*/%=<>&|^?:])(?=\s*$)/.exec(c.before);
        return `Unexpected '${c.token}': a value is missing behind ${operator}`;
    }],
    // A line break would have ended a statement: what stands before is an object that goes on.
    [c => /^(?:return|const|let|var|if|for|while|throw|try|function|class)$/.test(c.token) && /\n[ \t]*$/.test(c.before) && c.within('{'),
        c => `Unexpected '${c.token}': ${opener(c.top())} is not closed`],
    [c => /^[\w$"'`{[]/.test(c.rest) && /[\w$"'`)\]}]\s*$/.test(c.before) && c.top() && !/(?:^|[^\w$])(?:return|else|of|in)\s*$/.test(c.before),
        c => `Unexpected '${c.token}': a comma or an operator is missing before it`],
];

function unexpected(c) {
    const rule = UNEXPECTED.find(([when]) => when(c));
    return rule === undefined ? `Unexpected '${c.token}'` : rule[1](c);
}

export function advise(text, error) {
    const message = error.message.replace(/ \(\d+:\d+\)$/, ''), { pos } = error;
    const before = text.slice(0, pos), rest = text.slice(pos), from = pos - new Lines(before).place(pos).column;
    const c = { message, text, pos, before, rest, line: /^[^\r\n\u2028\u2029]*/.exec(text.slice(from))[0], token: (WORD.exec(rest) ?? [''])[0].slice(0, 40) };
    c.open = () => c.opened ?? (c.opened = openAt(text, pos));
    c.top = () => c.open()[c.open().length - 1];
    c.within = bracket => c.open().length > 0 && c.top().text === bracket;
    const rule = RULES.find(([when]) => when(c));
    return rule === undefined ? message : rule[1](c);
}
