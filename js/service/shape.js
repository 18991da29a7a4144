// What the value of a program is: its last expression, its default export, or what its one entry gives when it is called.
import { isFunction, isObjectText, parseExpressionAt, tokenStart, walk } from './parse.js';

// Names under which a program's entry goes, the better first.
const ENTRIES = ['main', 'run', 'default', 'execute', 'handler'];

// End of a statement's expression: before its semicolon, with comments between kept inside.
const expressionEnd = (text, statement) => (text[statement.end - 1] === ';' ? statement.end - 1 : statement.end);

const list = async => (async ? value => `await Array.fromAsync(${value})` : value => `[...${value}]`);

// A call of a generator gives nothing by itself: its values are collected.
function collector(fn, warn) {
    if (!fn?.generator)
        return null;
    warn(fn.start, `the values that the generator ${fn.id ? fn.id.name + ' ' : ''}yields are the result, as an array`);
    return list(fn.async);
}

// The functions of the top level by name: what is called and how it was declared.
function functionsOf(statements) {
    const found = new Map();
    for (const node of statements) {
        const declared = node.type === 'ExportNamedDeclaration' || node.type === 'ExportDefaultDeclaration' ? node.declaration : node;
        if (declared?.type === 'FunctionDeclaration' && declared.id !== null)
            found.set(declared.id.name, { fn: declared, node });
        else if (declared?.type === 'VariableDeclaration') {
            for (const { id, init } of declared.declarations) {
                if (id.type === 'Identifier' && isFunction(init))
                    found.set(id.name, { fn: init, node });
            }
        }
    }
    return found;
}

// Whether running these statements does nothing but declare.
function onlyDeclares(statements) {
    return statements.every(node => {
        let acts = false;
        const declared = node.type === 'ExportNamedDeclaration' ? node.declaration : node;
        if (declared === null || declared.type === 'ImportDeclaration' || declared.type === 'FunctionDeclaration' || declared.directive !== undefined)
            return true;
        if (declared.type !== 'VariableDeclaration' && declared.type !== 'ClassDeclaration')
            return false;
        walk(declared, (inner, owner) => {
            if (owner === null)
                acts ||= /^(?:Call|New|Await|TaggedTemplate|Assignment|Update|Import)Expression$/.test(inner.type);
        });
        return !acts;
    });
}

// Names that are used anywhere below these statements besides in their own declaration.
function usedNames(statements, functions) {
    const used = new Set();
    for (const statement of statements) {
        walk(statement, node => {
            // A function that calls itself is not called thereby.
            if (node.type === 'Identifier' && !declares(functions.get(node.name), node))
                used.add(node.name);
        });
    }
    return used;
}

function declares(entry, { start, end }) {
    if (entry === undefined)
        return false;
    const declared = entry.node.declaration ?? entry.node;
    return start >= declared.start && end <= declared.end;
}

const hasReturn = statements => statements.some(statement => {
    let found = false;
    walk(statement, (node, owner) => { found ||= owner === null && node.type === 'ReturnStatement'; });
    return found;
});

// The function that a program consisting of declarations was written for, or null: by its name, as the only one exported, as the one
// that no other calls; among several of these the last.
function entryOf(statements, warn) {
    const functions = functionsOf(statements);
    if (functions.size === 0)
        return null;
    const declares = onlyDeclares(statements), used = usedNames(statements, functions);
    const named = ENTRIES.find(name => functions.has(name) && !used.has(name));
    if (named !== undefined && (declares || named === 'main' || named === 'run'))
        return { name: named, ...functions.get(named) };
    if (!declares)
        return null;
    const names = [...functions.keys()], exported = names.filter(name => functions.get(name).node.type === 'ExportNamedDeclaration');
    const roots = names.filter(name => !used.has(name));
    const candidates = exported.length === 1 ? exported : roots.length > 0 ? roots : names;
    const name = candidates[candidates.length - 1];
    if (candidates.length > 1) {
        const others = candidates.slice(0, -1);
        warn(functions.get(name).fn.start, `nothing calls ${others.join(', ')} or ${name}: the last, ${name}, was called; end the program with the call that you mean`);
    }
    return { name, ...functions.get(name) };
}

// The name `a` of `export { a as default }`, or of the only function in an export list.
function listed(statements, functions) {
    for (const node of statements) {
        if (!isList(node))
            continue;
        const named = node.specifiers.find(s => s.exported.name === 'default')
            ?? ENTRIES.map(name => node.specifiers.find(s => s.exported.name === name)).find(s => s !== undefined)
            ?? (node.specifiers.length === 1 ? node.specifiers[0] : undefined);
        if (named !== undefined && functions.has(named.local.name))
            return { name: named.local.name, ...functions.get(named.local.name) };
    }
    return null;
}

const isList = node => node.type === 'ExportNamedDeclaration' && node.declaration === null && node.source === null;

// Exports have no reader here. A default export among other statements is kept under a name; {name, value} of it.
export function unexport(program, statements, last) {
    let kept = null;
    for (const node of statements) {
        if (node.type === 'ExportNamedDeclaration' && node.declaration !== null) {
            program.remove(node.start, tokenStart(program.text, node, 1));
        } else if (isList(node)) {
            program.removeStatement(node);
        } else if (node.type === 'ExportDefaultDeclaration' && node !== last) {
            const value = node.declaration, start = tokenStart(program.text, node, 2);
            if (value.type.endsWith('Declaration') && value.id !== null) {
                program.remove(node.start, start);
                kept = { name: value.id.name, value };
            } else {
                const name = freeName(program.text);
                program.replace(node.start, start, `const ${name} = `);
                // A declaration needs no semicolon behind it; what it has become does.
                if (value.type.endsWith('Declaration'))
                    program.append(value.end, ';');
                kept = { name, value };
            }
        }
    }
    return kept;
}

function freeName(text) {
    let name = '_default';
    while (text.includes(name))
        name += '_';
    return name;
}

// The method of an exported object or class that is its entry; in an object also one of the functions that were declared.
function methodOf(value, functions) {
    const members = value.type === 'ObjectExpression' ? value.properties : value.body.body;
    const found = members.filter(m => !m.computed && (m.key?.name ?? m.key?.value) !== undefined && ENTRIES.includes(m.key.name ?? m.key.value)
        && m.kind !== 'get' && m.kind !== 'set' && (isFunction(m.value ?? null) || (m.value?.type === 'Identifier' && functions.has(m.value.name))));
    if (found.length === 0)
        return null;
    const best = ENTRIES.map(name => found.find(m => (m.key.name ?? m.key.value) === name)).find(m => m !== undefined);
    return { name: best.key.name ?? best.key.value, isStatic: best.static === true, fn: best.value };
}

const isClass = node => node.type === 'ClassDeclaration' || node.type === 'ClassExpression';

// A value, in [start, end) of the text, that is exported as default and stands last.
function exported(program, value, start, end, functions, warn) {
    if (value.type === 'FunctionDeclaration' || isFunction(value)) {
        const collect = collector(value, warn);
        if (value.type === 'FunctionDeclaration' && value.id !== null) {
            program.callAfter(value.id.name, value.end, collect);
        } else if (collect !== null) {
            program.around(start, end, value.async ? 'return (await Array.fromAsync((' : 'return ([...(', `)${program.call}${value.async ? '))' : '])'}`);
            program.end = end;
        } else {
            program.yield(start, end, true);
        }
    } else if (value.type === 'Identifier' && functions.has(value.name)) {
        program.yield(start, end, true);
    } else if (value.type === 'ObjectExpression' || isClass(value)) {
        exportedMethods(program, value, start, end, functions, warn);
    } else {
        program.yield(start, end, false);
    }
}

function exportedMethods(program, value, start, end, functions, warn) {
    const method = methodOf(value, functions);
    if (isClass(value)) {
        if (method === null) {
            if (value.id === null)
                program.around(start, end, '(', ')');
            warn(start, `nothing of the exported class${value.id ? ' ' + value.id.name : ''} was called, since it has no method ${ENTRIES.join(', ')}; export a function instead`);
            return;
        }
        const [before, after] = method.isStatic ? ['', ''] : ['new ', '()'];
        if (value.id !== null && value.type === 'ClassDeclaration')
            program.callAfter(`${method.isStatic ? value.id.name : `(new ${value.id.name}())`}.${method.name}`, value.end);
        else
            wrapCall(program, start, end, `return ((${before}(`, `)${after}).${method.name}${program.call})`);
    } else if (method === null) {
        program.yield(start, end, false);
    } else {
        wrapCall(program, start, end, 'return ((', `).${method.name}${program.call})`);
    }
}

function wrapCall(program, start, end, before, after) {
    program.around(start, end, before, after);
    program.end = end;
}

// `module.exports = value`, `exports.default = value` and `exports.handler = value`, the other way to write a default export.
function commonExport(node) {
    if (node.type !== 'ExpressionStatement' || node.expression.type !== 'AssignmentExpression' || node.expression.operator !== '=')
        return null;
    const { left, right } = node.expression;
    if (left.type !== 'MemberExpression' || left.computed || left.object.type !== 'Identifier')
        return null;
    const object = left.object.name, { name } = left.property;
    return (object === 'module' && name === 'exports') || (object === 'exports' && ENTRIES.includes(name)) ? right : null;
}

// An expression that a statement in brackets was meant to be: { ok: 1 } alone, { total, names } at the end.
function blockIsObject(text, block, alone) {
    if (block.type !== 'BlockStatement' || block.body.length === 0)
        return false;
    const shorthand = e => e.type === 'Identifier' || (e.type === 'SequenceExpression' && e.expressions.every(x => x.type === 'Identifier'));
    const meant = n => (alone && n.type === 'LabeledStatement') || (n.type === 'LabeledStatement' && n.body.type === 'ExpressionStatement')
        || (n.type === 'ExpressionStatement' && block.body.length === 1 && shorthand(n.expression));
    return block.body.every(meant) && isObjectText(text, block.start);
}

// A last expression that is a function, or names one, is what a program is called through: no function leaves a program.
function expressionResult(program, result, keepRest, functions, warn) {
    const { text } = program, { expression } = result, end = expressionEnd(text, result);
    const names = expression.type === 'Identifier' && functions.has(expression.name);
    if (isFunction(expression) || names) {
        const collect = collector(names ? functions.get(expression.name).fn : expression, warn);
        if (collect === null)
            program.yield(result.start, end, true, keepRest);
        else
            program.around(result.start, end, `return (${collect('\0').split('\0')[0]}(`, `)${program.call}${collect('\0').split('\0')[1]})`);
        return;
    }
    if (expression.type === 'UnaryExpression' && expression.argument.type === 'CallExpression'
        && (expression.operator === 'void' || (expression.operator === '!' && isFunction(expression.argument.callee)))) {
        // `!function () { … }()` is a way to write a call, not to ask for the opposite of its value.
        if (expression.operator === '!')
            program.remove(expression.start, expression.start + 1);
        program.around(expression.argument.start, expression.argument.end, 'await ', '');
        program.yield(result.start, end, false, keepRest);
        return;
    }
    program.yield(result.start, end, false, keepRest);
}

// Where no expression stands last and nothing is returned: the entry among what was declared, if there is one.
function declarationsLast(program, statements, functions, lists, warn) {
    if (hasReturn(statements))
        return;
    const entry = listed(lists, functions) ?? entryOf(statements, warn);
    if (entry !== null) {
        const declared = statements.length === 1 ? (entry.node.declaration ?? entry.node).end : program.text.trimEnd().length;
        program.callAfter(entry.name, declared, collector(entry.fn, warn));
        return;
    }
}

export function shape(program, statements, warn) {
    // A list of exports (`export {}` makes a text a module) has no value and takes none away.
    const significant = statements.filter(n => n.type !== 'EmptyStatement' && !isList(n));
    const last = significant[significant.length - 1];
    const { text } = program;
    const functions = functionsOf(significant), kept = unexport(program, statements, last);
    if (last === undefined)
        return;
    if (last.type === 'ExportDefaultDeclaration') {
        const value = last.declaration, start = tokenStart(text, last, 2);
        program.remove(last.start, start);
        exported(program, value, start, value.type.endsWith('Declaration') ? value.end : expressionEnd(text, last), functions, warn);
        return;
    }
    if (last.isLiteral || blockIsObject(text, last, significant.length === 1)) {
        program.yield(last.start, last.isLiteral ? last.end : parseExpressionAt(text, last.start).end, false);
        return;
    }
    if (commonExport(last) !== null) {
        const value = commonExport(last);
        program.remove(last.start, value.start);
        exported(program, value, value.start, expressionEnd(text, last), functions, warn);
        return;
    }
    if (kept !== null) {
        exportedBefore(program, kept, last, functions, warn);
        return;
    }
    // Functions declared below the last expression are hoisted: `main(); async function main() { … }`.
    let i = significant.length - 1;
    while (i > 0 && significant[i].type === 'FunctionDeclaration')
        i--;
    const result = significant[i];
    program.endLet(i > 0 ? significant[i - 1] : undefined);
    if (result.type === 'ExpressionStatement' && (i === significant.length - 1 || result.directive === undefined))
        expressionResult(program, result, i < significant.length - 1, functions, warn);
    else
        declarationsLast(program, significant, functions, statements.filter(isList), warn);
}

// The default export stood before other statements; these run first.
function exportedBefore(program, { name, value }, last, functions, warn) {
    const end = program.text.trimEnd().length, method = value.type === 'ObjectExpression' || isClass(value) ? methodOf(value, functions) : null;
    if (value.type === 'FunctionDeclaration' || isFunction(value) || (value.type === 'Identifier' && functions.has(value.name)))
        program.callAfter(name, end, collector(value, warn));
    else if (method !== null)
        program.callAfter(`${isClass(value) && !method.isStatic ? `(new ${name}())` : name}.${method.name}`, end);
    else if (!isClass(value))
        program.append(end, `\nreturn ${name};`);
    program.endLet(last);
}

// A program that is one arrow function and nothing else: it needs no wrapper.
export function loneArrow(text, body) {
    const significant = body.filter(n => n.type !== 'EmptyStatement');
    const [only] = significant;
    if (significant.length === 1 && only.type === 'ExpressionStatement' && only.expression.type === 'ArrowFunctionExpression')
        return { start: only.start, end: expressionEnd(text, only), exported: false, node: only.expression };
    if (significant.length === 1 && only.type === 'ExportDefaultDeclaration' && only.declaration.type === 'ArrowFunctionExpression')
        return { start: tokenStart(text, only, 2), end: expressionEnd(text, only), exported: true, node: only.declaration };
    return null;
}
