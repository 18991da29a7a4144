// What the parser is asked.
import { Parser } from 'acorn';

export const options = {
    ecmaVersion: 'latest',
    sourceType: 'script',
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
    allowImportExportEverywhere: true,
    allowHashBang: true,
};

const SCOPE_TOP = 1;

// Takes await in every function: whether its meaning is clear where the function is not async is decided afterwards. The text itself
// becomes the body of an async function, where await is no name.
class Reader extends Parser {
    get canAwait() {
        return true;
    }

    get inAsync() {
        return (this.currentVarScope().flags & SCOPE_TOP) !== 0 || super.inAsync;
    }
}

export const parse = text => Reader.parse(text, options);
export const parseExpressionAt = (text, pos) => Reader.parseExpressionAt(text, pos, options);
export const tokenizer = text => Reader.tokenizer(text, options);

export const isSpace = text => /^[\s\uFEFF]*$/.test(text);

// Whether only blanks and comments stand in the text; a semicolon counts as blank where `semicolons`.
export function isQuiet(text, semicolons) {
    try {
        for (const token of tokenizer(text)) {
            if (!(semicolons && token.type.label === ';'))
                return false;
        }
        return true;
    } catch {
        return false;
    }
}

// Where the n-th token of a statement starts.
export function tokenStart(text, node, n) {
    const tokens = tokenizer(text.slice(node.start, node.end));
    let token = tokens.getToken();
    for (let i = 0; i < n; i++)
        token = tokens.getToken();
    return node.start + token.start;
}

// Whether from `start` on the text is one object literal, which as a program would be a block.
export function isObjectText(text, start = text.search(/\S/)) {
    if (start < 0 || text[start] !== '{')
        return false;
    try {
        return isQuiet(text.slice(parseExpressionAt(text, start).end), true);
    } catch {
        return false;
    }
}

export const isFunction = node => node !== null && (node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression');

// Every node below `root`, parents first, without recursion: a chain of members is as deep as it is long. `enter` gets the node and
// the nearest function (or class field, or static block) around it.
export function walk(root, enter) {
    const nodes = [root], owners = [null];
    while (nodes.length > 0) {
        const node = nodes.pop(), owner = owners.pop();
        enter(node, owner);
        const inner = node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression' || node.type === 'FunctionDeclaration'
            || node.type === 'PropertyDefinition' || node.type === 'StaticBlock' ? node : owner;
        const from = nodes.length;
        for (const key in node) {
            const value = node[key];
            if (value === null || typeof value !== 'object')
                continue;
            if (Array.isArray(value)) {
                for (const item of value) {
                    if (item !== null && typeof item === 'object')
                        nodes.push(item);
                }
            } else if (typeof value.type === 'string') {
                nodes.push(value);
            }
        }
        // In the order of the text.
        for (let i = from, j = nodes.length - 1; i < j; i++, j--)
            [nodes[i], nodes[j]] = [nodes[j], nodes[i]];
        for (let i = from; i < nodes.length; i++)
            owners.push(inner);
    }
}
