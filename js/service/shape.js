// What the value of a program is: its last expression, its one function called, its default export.
import { parseExpressionAt } from 'acorn';
import { isObjectText, options, tokenStart } from './parse.js';

const isFunction = node => node !== null && (node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression');

// End of a statement's expression: before its semicolon, with comments between kept inside.
function expressionEnd(text, statement) {
    return text[statement.end - 1] === ';' ? statement.end - 1 : statement.end;
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

export function wholeExpression(program) {
    const start = program.text.search(/\S/), node = parseExpressionAt(program.text, start, options);
    program.yield(start, node.end, false);
}

export function shape(program, statements) {
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

// A program that is one arrow function and nothing else: it needs no wrapper.
export function loneArrow(text, body) {
    const significant = body.filter(n => n.type !== 'EmptyStatement');
    const [only] = significant;
    if (significant.length === 1 && only.type === 'ExpressionStatement' && only.expression.type === 'ArrowFunctionExpression')
        return { start: only.start, end: only.end };
    if (significant.length === 1 && only.type === 'ExportDefaultDeclaration' && only.declaration.type === 'ArrowFunctionExpression')
        return { start: tokenStart(text, only, 2), end: only.end };
    return null;
}
