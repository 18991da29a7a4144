// TextEncoder and TextDecoder.
import { normalizeEncoding, TextDecoder as Decoder, TextEncoder } from '@exodus/bytes/encoding-lite.js';
import { named } from './finish.js';

const absent = new Set(['replacement', 'big5', 'euc-kr', 'euc-jp', 'iso-2022-jp', 'shift_jis', 'gbk', 'gb18030']);

class TextDecoder extends Decoder {
    constructor(label = 'utf-8', options = {}) {
        const name = normalizeEncoding(`${label}`);
        if (name === null || absent.has(name)) {
            throw new RangeError(`TextDecoder does not have the encoding "${label}". It has utf-8, utf-16le, utf-16be, latin1 `
                + '(windows-1252) and the other encodings of one byte for each character: iso-8859-2 to -16, windows-1250 to -1258, '
                + 'koi8-r, koi8-u, ibm866, macintosh');
        }
        super(name, options ?? {});
    }

    decode(input, options = {}) {
        if (input !== undefined && !ArrayBuffer.isView(input) && !(input instanceof ArrayBuffer))
            throw new TypeError('TextDecoder.decode takes bytes: a Uint8Array, another view, or an ArrayBuffer');
        return super.decode(input, options ?? {});
    }
}

made = named({ TextEncoder, TextDecoder });
