// TypeScript to JavaScript, in a script of its own that the service realm loads when a program first needs it. Sucrase takes types
// away and keeps every line; where its tokens went gives the columns.
import TokenProcessor from 'sucrase/dist/esm/TokenProcessor.js';
import { HelperManager } from 'sucrase/dist/esm/HelperManager.js';
import identifyShadowedGlobals from 'sucrase/dist/esm/identifyShadowedGlobals.js';
import NameManager from 'sucrase/dist/esm/NameManager.js';
import { parse } from 'sucrase/dist/esm/parser/index.js';
import { ContextualKeyword } from 'sucrase/dist/esm/parser/tokenizer/keywords.js';
import State from 'sucrase/dist/esm/parser/tokenizer/state.js';
import { TokenType } from 'sucrase/dist/esm/parser/tokenizer/types.js';
import RootTransformer from 'sucrase/dist/esm/transformers/RootTransformer.js';
import getTSImportedNames from 'sucrase/dist/esm/util/getTSImportedNames.js';
import { Lines } from './text.js';

// Its parser goes back and reads again where it had taken brackets for something else; nested, that doubles with each level. What it
// may read again in all is bounded, so that no text takes longer than it is long.
const AGAIN_PER_CHARACTER = 30, AGAIN_AT_LEAST = 20000;
let again = 0;
const { restoreFromSnapshot } = State.prototype;
State.prototype.restoreFromSnapshot = function (snapshot) {
    again -= Math.max(1, Math.min(this.pos, this.end) - snapshot.pos);
    if (again < 0)
        throw new RangeError('too many brackets within brackets');
    restoreFromSnapshot.call(this, snapshot);
};

const BREAK = /[\r\n\u2028\u2029]/, BREAKS = /\r\n|[\r\n\u2028\u2029]/g;

const options = { transforms: ['typescript'], disableESTransforms: true };

function refuse(message, pos) {
    const e = new SyntaxError(message);
    e.pos = pos;
    e.refusal = true;
    throw e;
}

// What is valid, but would silently lose code: a namespace is taken for a type.
function checkTokens(text, tokens) {
    for (let i = 0; i + 2 < tokens.length; i++) {
        const { contextualKeyword, isType, type, start } = tokens[i];
        if (type === TokenType.at)
            refuse('Decorators (@name) are not supported; call the function yourself', start);
        if (!isType || tokens[i + 1].type !== TokenType.name || (i > 0 && tokens[i - 1].type === TokenType._declare))
            continue;
        if ((contextualKeyword === ContextualKeyword._namespace || contextualKeyword === ContextualKeyword._module)
            && (tokens[i + 2].type === TokenType.braceL || tokens[i + 2].type === TokenType.dot))
            refuse(`namespace ${text.slice(tokens[i + 1].start, tokens[i + 1].end)} is not supported: use an object, const name = { … }, or plain functions`, start);
    }
}

// What goes away with its type goes unread by the parser that comes next, and so would a line break inside of it: all that follows would
// move up by a line. A backslash in a name is read by this parser as one with whatever follows, a break too.
function checkTexts(text, tokens) {
    for (const { isType, type, start, end } of tokens) {
        const token = text.slice(start, end);
        const at = type === TokenType.name ? token.search(/\\(?!u)/) : -1;
        if (at >= 0)
            throw Object.assign(new SyntaxError('Expecting Unicode escape sequence \\uXXXX'), { pos: start + at });
        if (!isType || !BREAK.test(token))
            continue;
        if (type === TokenType.string && !/\\(?:\r\n|[\r\n\u2028\u2029])/.test(token))
            throw Object.assign(new SyntaxError('Unterminated string constant'), { pos: start });
        refuse('A text in a type goes over several lines; write it on one', type === TokenType.template ? start - 1 : start);
    }
}

// What would be one token, or begin a comment, without the type that stood between: return<T>x, +<T>+x, 1!.toFixed().
const JOINED = /^(?:[\w$\u0080-\uffff][\w$\\#\u0080-\uffff]|\+\+|--|\/\/|!-|\d\.)$/;

class Spaced extends TokenProcessor {
    copyToken() {
        const { code, tokens, tokenIndex, resultCode } = this, { start } = tokens[tokenIndex];
        // Only behind what was taken out: the end of the result is no longer what stands before the token.
        if (tokenIndex > 0 && tokens[tokenIndex - 1].end === start && this.isTakenOut(tokenIndex - 1) && JOINED.test(resultCode.slice(-1) + code[start]))
            this.resultCode += ' ';
        super.copyToken();
    }

    // What is taken out leaves its line breaks, all kinds of them.
    replaceTokenTrimmingLeftWhitespace(by) {
        this.leavesBreaksOnly = true;
        this.replaceToken(by);
        this.leavesBreaksOnly = false;
    }

    previousWhitespaceAndComments() {
        const text = super.previousWhitespaceAndComments(), pieces = this.leavesBreaksOnly ? text.match(BREAKS) ?? [] : [text];
        // Two that come together must not become one, \r\n.
        return pieces.reduce((before, piece) => before + ((before || this.resultCode).endsWith('\r') && piece.startsWith('\n') ? ' ' : '') + piece, '');
    }

    isTakenOut(index) {
        return this.resultMappings[index] === this.resultCode.length;
    }
}

// Rows of text.js: where a token's column differs from what the tokens before it in its line lead to.
function rowsOf(text, code, tokens, mappings) {
    const before = new Lines(text), after = new Lines(code), rows = [];
    let line = 0, shift = 0;
    for (let i = 0; i < tokens.length; i++) {
        if (mappings[i] === undefined)
            continue;
        // What a token was replaced by begins where it stood; a mapping may point at the blanks before.
        const to = after.place(mappings[i]), from = before.place(tokens[i].start);
        if (to.line !== from.line)
            continue;
        if (to.line !== line) {
            line = to.line;
            shift = 0;
        }
        const now = to.column - from.column;
        if (now === shift)
            continue;
        // Tokens that were taken out all have the place of the next one that was kept.
        const last = rows[rows.length - 1];
        if (last !== undefined && last[0] === line && last[1] === to.column)
            last[2] += now - shift;
        else
            rows.push([line, to.column, now - shift]);
        shift = now;
    }
    return rows;
}

// {text, rows}: the program without its types. Throws a SyntaxError with `pos`.
export function stripTypes(text) {
    again = Math.max(AGAIN_AT_LEAST, text.length * AGAIN_PER_CHARACTER);
    const { tokens, scopes } = parse(text, false, true, false);
    checkTokens(text, tokens);
    checkTexts(text, tokens);
    const nameManager = new NameManager(text, tokens), helperManager = new HelperManager(nameManager);
    const tokenProcessor = new Spaced(text, tokens, false, true, helperManager);
    identifyShadowedGlobals(tokenProcessor, scopes, getTSImportedNames(tokenProcessor));
    const { code, mappings } = new RootTransformer({ tokenProcessor, scopes, nameManager, importProcessor: null, helperManager },
                                                   options.transforms, false, options).transform();
    return { text: code, rows: rowsOf(text, code, tokens, mappings) };
}

globalThis.stripTypes = stripTypes;
