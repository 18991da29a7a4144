// Host names for whatwg-url. The tables of Unicode are a script of their own, since nearly every host is ASCII: then the result is
// the host in lower case, as the URL standard says itself - unless a label claims to be encoded, which must be checked.
import { IDNA } from './scripts.js';

// eslint-disable-next-line no-control-regex
const isPlain = host => /^[\0-\x7f]*$/.test(host) && !/(^|\.)xn--/i.test(host);

export const toASCII = (host, options) => (isPlain(host) ? host.toLowerCase() : kit.load(IDNA).toASCII(host, options));
export const toUnicode = (host, options) => kit.load(IDNA).toUnicode(host, options);
