// In place of the table of the same name in Sucrase's parser, which is filled in a loop of 65,000 turns. The engine takes such a loop in
// so large a script for worth compiling whole: a quarter of a second and 150 MB, for nothing.
import { WHITESPACE_CHARS } from 'sucrase/dist/esm/parser/util/whitespace.js';

// Beyond ASCII everything but a blank counts as part of a name; the parser that reads the result knows better.
export const IS_IDENTIFIER_CHAR = new Uint8Array(65536).fill(1, 128);
for (const [first, last] of ['09', 'AZ', 'az', '__', '$$'])
    IS_IDENTIFIER_CHAR.fill(1, first.charCodeAt(0), last.charCodeAt(0) + 1);
for (const c of [...WHITESPACE_CHARS, 0x2028, 0x2029])
    IS_IDENTIFIER_CHAR[c] = 0;

export const IS_IDENTIFIER_START = IS_IDENTIFIER_CHAR.slice().fill(0, 48, 58);
