// What a program most likely did not mean, found by reading it. Each warning names the line and what to write instead.
import { asyncCallback, awaitsList, needsAsync } from './await.js';
import { isFunction, walk } from './parse.js';
import { Refusal } from './refusal.js';

const MAX_WARNINGS = 20;

// Collects texts, with the lines of their places in front.
export class Warnings {
    constructor() {
        this.texts = [];
        this.general = Infinity; // how many of them are not about a line
        this.lineOf = () => 0;
        this.beginsLine = () => true; // whether what stands there is the first in its line of what was sent
    }

    at = (pos, message) => this.add(`line ${this.lineOf(pos)}: ${message}`);

    add(message) {
        if (this.texts.length < MAX_WARNINGS && !this.texts.includes(message))
            this.texts.push(message);
    }

    get json() {
        return this.texts.length > 0 ? JSON.stringify(this.texts) : '';
    }
}

// The names that a pattern declares.
function* bound(pattern) {
    const todo = [pattern];
    while (todo.length > 0) {
        const node = todo.pop();
        if (node === null || node === undefined)
            continue;
        if (node.type === 'Identifier')
            yield node;
        else if (node.type === 'ObjectPattern')
            todo.push(...node.properties.map(p => p.value ?? p.argument));
        else if (node.type === 'ArrayPattern')
            todo.push(...node.elements);
        else
            todo.push(node.left ?? node.argument);
    }
}

function declaredBy(node) {
    if (node.type === 'VariableDeclarator')
        return [node.id];
    if (node.type === 'CatchClause')
        return [node.param];
    if (node.type === 'FunctionDeclaration' || isFunction(node))
        return node.id ? [node.id, ...node.params] : node.params;
    return node.type === 'ClassDeclaration' ? [node.id] : null;
}

const isLabelled = body => body?.type === 'BlockStatement' && body.body.length === 1 && body.body[0].type === 'LabeledStatement'
    && body.body[0].body.type === 'ExpressionStatement';

const LINE_END = /[\r\n\u2028\u2029]/;

// The character that a call or an index begins with, where a new line does.
function beginsLine(text, node) {
    const at = node.type === 'CallExpression' ? node.callee.end : node.type === 'MemberExpression' && node.computed ? node.object.end : -1;
    // Nearly always the bracket itself.
    if (at < 0 || text[at] === '(' || text[at] === '[' || node.optional)
        return null;
    const between = /^\s*/.exec(text.slice(at))[0], found = at + between.length;
    return LINE_END.test(between) && (text[found] === '(' || text[found] === '[') ? found : null;
}

// A return that its line's end ends, before what it was meant to return.
function lostReturn(text, list, i) {
    const node = list[i], next = list[i + 1];
    return node?.type === 'ReturnStatement' && node.argument === null && text[node.end - 1] !== ';' && next?.type === 'ExpressionStatement';
}

function lookAtLines(text, node, warnings) {
    const list = node.type === 'BlockStatement' || node.type === 'StaticBlock' ? node.body : node.type === 'SwitchCase' ? node.consequent : null;
    for (let i = 0; list !== null && i < list.length; i++) {
        if (lostReturn(text, list, i))
            warnLost(list[i], warnings);
    }
    const at = beginsLine(text, node);
    if (at !== null && warnings.beginsLine(at))
        warnings.at(at, `the line begins with ${text[at]} and goes on with the one before, which has no semicolon at its end; put one there if it is a statement of its own`);
}

const warnLost = (node, warnings) => warnings.at(node.start, 'return ends with its line, so nothing is returned and what stands below it does not run; begin the value in the same line');

// What the parser takes and the engine does not.
function refuse(node) {
    if (node.type === 'VariableDeclaration' && node.kind.endsWith('using'))
        throw new Refusal(`${node.kind} is not known here: declare it with const, and release it in try { … } finally { … }`, node.start, 'syntax');
    const rest = isFunction(node) ? node.params.slice(0, -1).find(p => p.type === 'RestElement') : undefined;
    if (rest !== undefined)
        throw new Refusal('A parameter with ... takes all that is left, so it is the last one', rest.start, 'syntax');
}

// `names`: of the connectors. What it returns: whether an await stands where none can.
export function look(program, body, names, warnings) {
    const shadowed = new Set();
    let awaits = false;
    body.forEach((statement, i) => {
        if (lostReturn(program.text, body, i))
            warnLost(statement, warnings);
        walk(statement, (node, owner) => {
            lookAtLines(program.text, node, warnings);
            refuse(node);
            awaits ||= needsAsync(node, owner);
            for (const pattern of declaredBy(node) ?? []) {
                for (const { name, start } of bound(pattern)) {
                    if (!names.has(name) || shadowed.has(name))
                        continue;
                    shadowed.add(name);
                    warnings.at(start, `${name} is declared here and hides the ${name === 'codemode' ? 'global codemode' : `connector ${name}`} in its scope; choose another name to call it there`);
                }
            }
            if (node.type === 'ArrowFunctionExpression' && isLabelled(node.body))
                warnings.at(node.body.start, 'the braces after => are a block with a label, so the function returns nothing; write => ({ … }) for an object');
            if (awaitsList(node)) {
                warnings.at(node.start, 'await waits for nothing here, since map gives a list of promises, so they are awaited all: write await Promise.all(items.map(async item => …))');
                program.around(node.argument.start, node.argument.end, 'Promise.all(', ')');
            }
            const method = asyncCallback(node);
            if (method !== null)
                warnings.at(node.arguments[0].start, `the callback of ${method} is async: it returns a promise, which ${/sort/i.test(method) ? 'orders nothing' : 'always counts as true'}; `
                    + 'await the values first, with Promise.all, or write a loop');
        });
    });
    return awaits;
}
