// UTF-8 as the web interfaces need it: what is malformed becomes U+FFFD. Under these names whatwg-url asks for it, too.
import { utf8fromStringLoose, utf8toStringLoose } from '@exodus/bytes/utf8.js';

export const utf8Encode = text => utf8fromStringLoose(text);
export const utf8DecodeWithoutBOM = bytes => utf8toStringLoose(bytes);

// As a body's text() does it.
export function utf8Decode(bytes) {
    const mark = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    return utf8toStringLoose(mark ? bytes.subarray(3) : bytes);
}
