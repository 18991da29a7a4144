// What the parser is asked.
import { parseExpressionAt, tokenizer } from 'acorn';

export const options = {
    ecmaVersion: 'latest',
    sourceType: 'script',
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
    allowImportExportEverywhere: true,
    allowHashBang: true,
};

export const isSpace = text => /^[\s\uFEFF]*$/.test(text);

// Whether only blanks and comments stand in the text; a semicolon counts as blank where `semicolons`.
export function isQuiet(text, semicolons) {
    try {
        for (const token of tokenizer(text, options)) {
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
    const tokens = tokenizer(text.slice(node.start, node.end), options);
    let token = tokens.getToken();
    for (let i = 0; i < n; i++)
        token = tokens.getToken();
    return node.start + token.start;
}

// Whether the text is one object literal, which as a program would be a block.
export function isObjectText(text) {
    const start = text.search(/\S/);
    if (start < 0 || text[start] !== '{')
        return false;
    try {
        const node = parseExpressionAt(text, start, options);
        return isQuiet(text.slice(node.end), true);
    } catch {
        return false;
    }
}
