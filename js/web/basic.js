// DOMException, atob and btoa, structuredClone.
import { structuredClone } from './clone.js';
import { DOMException } from './domexception.js';
import { named } from './finish.js';
import { latin1 } from './latin1.js';

function takesText(name, n) {
    if (n === 0)
        throw new TypeError(`${name} takes a text`);
}

// The functions of an object literal have their names, and are no constructors.
const { atob, btoa } = {
    atob(text) {
        takesText('atob', arguments.length);
        let s = `${text}`.replace(/[\t\n\f\r ]/g, '');
        if (s.length % 4 === 0)
            s = s.replace(/==?$/, '');
        const at = s.search(/[^A-Za-z0-9+/]/);
        if (at >= 0 || s.length % 4 === 1) {
            throw new DOMException(at >= 0 ? `The text of atob is no base64: ${JSON.stringify(s[at])} is not in its alphabet`
                + (s[at] === '-' || s[at] === '_' ? '; Uint8Array.fromBase64(text, { alphabet: "base64url" }) reads base64url' : '')
                : 'The text of atob is no base64: one character is left over', 'InvalidCharacterError');
        }
        return latin1(Uint8Array.fromBase64(s));
    },
    btoa(text) {
        takesText('btoa', arguments.length);
        const s = `${text}`, bytes = new Uint8Array(s.length);
        for (let i = 0; i < s.length; i++) {
            const code = s.charCodeAt(i);
            if (code > 255) {
                throw new DOMException(`btoa takes characters up to U+00FF; at ${i} stands ${JSON.stringify(s[i])}. For any text: `
                    + 'new TextEncoder().encode(text).toBase64()', 'InvalidCharacterError');
            }
            bytes[i] = code;
        }
        return bytes.toBase64();
    },
};

made = named({ DOMException, atob, btoa, structuredClone });
