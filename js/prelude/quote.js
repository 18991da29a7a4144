// Texts and keys as they are written in a program.
import { apply, charCode, cut, find, once, stringify, symbolText } from './primordials.js';

const MAX_TEXT = 10000;    // of one text inside of a value
export const BREAK = 80;

export const short = s => (s.length > 80 ? cut(s, 0, 80) + '…' : s);

const escapes = once(() => ({ __proto__: null, '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '\\': '\\\\' }));

export const digits = '0123456789abcdef';
const capitals = '0123456789ABCDEF';

function escape(s, mark) {
    let out = '';
    for (let i = 0; i < s.length; i++) {
        const c = s[i], code = charCode(s, i);
        if (c === mark)
            out += '\\' + c;
        else if (code < 32 || c === '\\' || (code >= 127 && code < 160))
            out += escapes()[c] || '\\x' + capitals[code >> 4] + capitals[code & 15];
        else if (code >= 0xd800 && code < 0xe000) {
            const next = charCode(s, i + 1);
            if (code < 0xdc00 && next >= 0xdc00 && next < 0xe000)
                out += c + s[++i];
            else
                out += '\\ud' + digits[(code >> 8) & 15] + digits[(code >> 4) & 15] + digits[code & 15];
        } else
            out += c;
    }
    return out;
}

// In single quotes, or in what needs no escaping.
function quote(s) {
    let mark = '\'';
    if (find(s, '\'', 0) >= 0) {
        if (find(s, '"', 0) < 0)
            mark = '"';
        else if (find(s, '`', 0) < 0 && find(s, '${', 0) < 0)
            mark = '`';
    } else if (stringify(s).length === s.length + 2) {
        return mark + s + mark;
    }
    return mark + escape(s, mark) + mark;
}

export function quoted(s, indent) {
    const rest = s.length - MAX_TEXT, head = rest > 0 ? cut(s, 0, MAX_TEXT) : s;
    const tail = rest > 0 ? `... ${rest} more character${rest > 1 ? 's' : ''}` : '';
    // A text of several lines that does not fit is shown line by line.
    if (head.length <= 16 || head.length <= BREAK - indent - 4 || find(head, '\n', 0) < 0)
        return quote(head) + tail;
    let out = '';
    for (let at = 0, next; at < head.length; at = next) {
        next = find(head, '\n', at) + 1;
        if (next === 0)
            next = head.length;
        out += (out ? ' +\n' + spaces(indent + 2) : '') + quote(cut(head, at, next));
    }
    return out + tail;
}

export const spaces = n => cut('                                        ', 0, n);

function isName(key) {
    for (let i = 0; i < key.length; i++) {
        const c = charCode(key, i), letter = c | 32;
        if (!((letter >= 97 && letter <= 122) || c === 95 || (i > 0 && c >= 48 && c <= 57)))
            return false;
    }
    return key.length > 0;
}

export function keyText(key) {
    if (typeof key === 'symbol')
        return '[' + apply(symbolText, key, []) + ']';
    if (key === '__proto__')
        return '[\'__proto__\']';
    return isName(key) ? key : quote(short(key));
}
