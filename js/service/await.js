// await in a function that is not async. Where it is clear what was meant, the function is made async, and a warning says so; where an
// async function in its place would silently do something else, the program is refused with what to write.
import { isFunction, tokenStart, walk } from './parse.js';
import { Refusal } from './refusal.js';

const VALUES = 'await all values first, const values = await Promise.all(items.map(async item => …)), and use values[i] in the callback';
const LOOP = 'write a loop: for (const item of items) { … await … }';

// Methods whose callback decides by what it returns at once: a promise there is always true, or no number, or no text.
const REFUSED = {
    __proto__: null,
    filter: `a promise counts as true, so it would keep everything. Either ${VALUES}; or ${LOOP}`,
    some: `a promise always counts as true; ${LOOP}`, every: `a promise always counts as true; ${LOOP}`,
    find: `a promise always counts as true; ${LOOP}`, findIndex: `a promise always counts as true; ${LOOP}`,
    findLast: `a promise always counts as true; ${LOOP}`, findLastIndex: `a promise always counts as true; ${LOOP}`,
    sort: `a promise orders nothing; ${VALUES}`, toSorted: `a promise orders nothing; ${VALUES}`,
    reduce: `the next turn would get a promise in place of the sum so far; ${LOOP}`,
    reduceRight: `the next turn would get a promise in place of the sum so far; ${LOOP}`,
    flatMap: `a promise is not flattened; write (await Promise.all(items.map(async item => …))).flat()`,
    replace: `the text would hold "[object Promise]"; ${VALUES}`, replaceAll: `the text would hold "[object Promise]"; ${VALUES}`,
    groupBy: `a promise is no key; ${VALUES}`, stringify: `a promise becomes {}; ${VALUES}`, parse: `a promise would be the value; ${VALUES}`,
};

const SETTLING = new Set(['all', 'allSettled', 'race', 'any']);

const methodName = callee => (callee.type === 'MemberExpression' && !callee.computed ? callee.property.name : callee.type === 'Identifier' ? callee.name : '');
const isPromiseCall = node => node?.type === 'CallExpression' && node.callee.type === 'MemberExpression' && node.callee.object.name === 'Promise'
    && SETTLING.has(node.callee.property.name);
const isAwait = node => node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await)
    || (node.type === 'VariableDeclaration' && node.kind === 'await using');

const mayAwait = owner => owner === null || owner.async === true;

// Whether the walk over a program met an await for which there is work here.
export const needsAsync = (node, owner) => isAwait(node) && !mayAwait(owner);

// `await items.map(async …)`: waits for nothing, since a list of promises is no promise.
export function awaitsList(node) {
    if (node.type !== 'AwaitExpression' || node.argument.type !== 'CallExpression')
        return false;
    const { callee, arguments: args } = node.argument;
    return callee.type === 'MemberExpression' && methodName(callee) === 'map' && args.length > 0 && isFunction(args[0]) && args[0].async;
}

// A callback that is async already where that cannot work.
export function asyncCallback(node) {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression' || node.arguments.length === 0)
        return null;
    const name = methodName(node.callee);
    return ['filter', 'some', 'every', 'find', 'findIndex', 'sort', 'toSorted'].includes(name) && isFunction(node.arguments[0]) && node.arguments[0].async ? name : null;
}

// What an enum has become: a function that is called with `E || (E = {})`.
function isEnum(call) {
    const given = call?.type === 'CallExpression' && call.arguments.length === 1 ? call.arguments[0] : null;
    return given?.type === 'LogicalExpression' && given.right.type === 'AssignmentExpression' && given.right.right.type === 'ObjectExpression';
}

class Fixer {
    constructor(program, body, warn, lineOf) {
        this.program = program;
        this.warn = warn;
        this.lineOf = lineOf;
        this.above = new Map(); // of each node
        this.owner = new Map(); // the function around each node
        this.names = new Map(); // identifiers by name
        this.async = new Set(); // functions made async
        this.todo = [];
        this.last = body.filter(n => n.type !== 'EmptyStatement').at(-1);
        for (const statement of body)
            this.index(statement);
    }

    index(statement) {
        walk(statement, (node, owner) => {
            this.owner.set(node, owner);
            for (const key in node) {
                const value = node[key];
                for (const child of Array.isArray(value) ? value : [value]) {
                    if (child !== null && typeof child === 'object' && typeof child.type === 'string')
                        this.above.set(child, node);
                }
            }
            if (node.type === 'Identifier') {
                const list = this.names.get(node.name);
                if (list === undefined)
                    this.names.set(node.name, [node]);
                else
                    list.push(node);
            }
            if (needsAsync(node, owner))
                this.want(owner, node);
        });
    }

    // `fn` must be able to await, because of `node` in it.
    want(fn, node) {
        if (mayAwait(fn) || this.async.has(fn))
            return;
        this.refuseKind(fn, node);
        this.async.add(fn);
        this.todo.push(fn);
    }

    refuse(message, node) {
        throw new Refusal(message, node.start, 'await');
    }

    refuseKind(fn, node) {
        const above = this.above.get(fn);
        if (fn.type === 'StaticBlock' || fn.type === 'PropertyDefinition')
            this.refuse('await cannot stand where a class makes its fields; do it in an async method, or before the class', node);
        if (fn.generator)
            this.refuse('await stands in a generator that is not async; write async function* and read it with for await (… of …)', node);
        if (above?.kind === 'get' || above?.kind === 'set')
            this.refuse(`await cannot stand in a ${above.kind === 'get' ? 'getter' : 'setter'}; write an async method and call it with await`, node);
        if (isEnum(above))
            this.refuse('await cannot stand in an enum; write const Name = { A: await … }', node);
        if (above?.type === 'LabeledStatement' || above?.type === 'IfStatement')
            this.refuse('await stands in a function that cannot be async where it is: behind a label or if (…) only a plain function may '
                + 'be declared; put it into braces, { async function name() { … } }, or declare it before', node);
        if (above?.kind === 'constructor')
            this.refuse('await cannot stand in a constructor; write a static async method that awaits first and then calls new', node);
    }

    run() {
        while (this.todo.length > 0) {
            const fn = this.todo.pop();
            this.makeAsync(fn, this.above.get(fn));
        }
    }

    makeAsync(fn, above) {
        let at = fn.start;
        if (above?.method || above?.type === 'MethodDefinition')
            at = above.static ? tokenStart(this.program.text, above, 1) : above.start;
        this.program.around(at, fn.end, 'async ', '');
        if (above?.type === 'CallExpression' && above.callee === fn)
            this.called(fn, above, 'the function');
        else if ((above?.type === 'CallExpression' || above?.type === 'NewExpression') && above.arguments.includes(fn))
            this.passed(fn, above, fn);
        else if (above?.type === 'VariableDeclarator' && above.id.type === 'Identifier')
            this.declared(fn, above.id);
        else if (fn.type === 'FunctionDeclaration' && fn.id !== null)
            this.declared(fn, fn.id);
        else if (above?.type === 'MethodDefinition' || above?.type === 'Property')
            this.warn(fn.start, `${above.key?.name ?? 'the method'} uses await, so it was made async; await its calls`);
        else
            this.warn(fn.start, 'the function uses await, so it was made async');
    }

    // `fn`, or its name at `node`, is an argument of `call`.
    passed(fn, call, node) {
        const name = methodName(call.callee), line = this.lineOf(fn.start);
        const member = call.callee.type === 'MemberExpression';
        if (member && name in REFUSED)
            this.refuse(`${name} cannot use await in its callback: an async callback returns a promise, and ${REFUSED[name]}`, node);
        if (member && (name === 'map' || (name === 'from' && call.callee.object.name === 'Array'))) {
            this.mapped(fn, call, name);
        } else if (member && name === 'forEach') {
            this.warn(fn.start, 'the callback of forEach uses await, so it was made async; forEach does not wait for it: '
                + 'use for (const item of items) { … } instead', line);
        } else {
            this.warn(fn.start, `the callback of ${call.type === 'NewExpression' ? 'new ' : ''}${name || 'a call'} uses await, so it was made async`, line);
        }
    }

    mapped(fn, call, name) {
        const above = this.above.get(call);
        if (isPromiseCall(above)) {
            this.warn(fn.start, `the callback of ${name} uses await, so it was made async`);
            return;
        }
        this.warn(fn.start, `the callback of ${name} uses await, so it was made async and all its promises are awaited: `
            + 'write await Promise.all(items.map(async item => …))');
        if (above?.type === 'AwaitExpression') {
            this.program.around(call.start, call.end, 'Promise.all(', ')');
            return;
        }
        this.program.around(call.start, call.end, '(await Promise.all(', '))');
        this.want(this.owner.get(call), call);
    }

    declared(fn, id) {
        const uses = (this.names.get(id.name) ?? []).filter(node => node !== id && this.isUse(node));
        const before = this.program.edits.length;
        for (const use of uses) {
            const above = this.above.get(use);
            if (above?.type === 'CallExpression' && above.callee === use)
                this.called(fn, above, id.name);
            else if (above?.type === 'CallExpression' && above.arguments.includes(use))
                this.passed(fn, above, use);
        }
        this.warn(fn.start, `${id.name} uses await, so it was made async${this.program.edits.length > before ? ' and its calls are awaited' : ''}`);
    }

    isUse(node) {
        const above = this.above.get(node);
        if (above === undefined)
            return true;
        if (above.type === 'MemberExpression' && above.property === node && !above.computed)
            return false;
        if ((above.type === 'Property' || above.type === 'MethodDefinition') && above.key === node && !above.computed && !above.shorthand)
            return false;
        if (/Function|VariableDeclarator|CatchClause/.test(above.type) && above.init !== node && above.body !== node)
            this.refuse(`${node.name} uses await but is not async, and the name is declared twice; mark the function async and await its calls`, node);
        return true;
    }

    // A call of a function that was made async: its value is wanted, so it is awaited.
    called(fn, call, name) {
        const above = this.above.get(call);
        if (above === undefined || above.type === 'AwaitExpression' || above.type === 'ReturnStatement'
            || (above.type === 'ArrowFunctionExpression' && above.body === call) || above === this.last || isPromiseCall(above)
            || (above.type === 'ArrayExpression' && isPromiseCall(this.above.get(above)))
            || (above.type === 'MemberExpression' && above.object === call && ['then', 'catch', 'finally'].includes(above.property.name))) {
            if (name === 'the function')
                this.warn(fn.start, 'the function uses await, so it was made async');
            return;
        }
        if (name === 'the function')
            this.warn(fn.start, 'the function uses await, so it was made async and its call is awaited');
        this.program.around(call.start, call.end, '(await ', ')');
        this.want(this.owner.get(call), call);
    }
}

export function fixAwaits(program, body, warn, lineOf) {
    new Fixer(program, body, warn, lineOf).run();
}
