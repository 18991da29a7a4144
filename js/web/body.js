// What Request and Response have in common: a body that is read once, as a whole or as a stream.
import { asBytes, blobBytes, blobOf, isBlob, streamOf } from './blob.js';
import { decodeForm, encodeForm, FormData } from './formdata.js';
import { STREAMS, URLS } from './scripts.js';
import { utf8Decode, utf8Encode } from './utf8.js';

// {bytes, stream, type}: the bytes of a stream are not known before it was read.
export function extract(init) {
    const out = { __proto__: null, bytes: undefined, stream: undefined, type: undefined };
    if (init === null || init === undefined)
        return null;
    if (isBlob(init)) {
        out.bytes = blobBytes(init);
        out.type = init.type || undefined;
    } else if (init instanceof FormData) {
        Object.assign(out, encodeForm(init));
    } else if (asBytes(init) !== undefined) {
        out.bytes = asBytes(init).slice();
    } else if (typeof init === 'object' && init instanceof kit.load(STREAMS).ReadableStream) {
        if (init.locked)
            throw new TypeError('This stream is being read already and can be no body');
        out.stream = init;
    } else if (typeof init === 'object' && init instanceof kit.load(URLS).URLSearchParams) {
        out.bytes = utf8Encode(`${init}`);
        out.type = 'application/x-www-form-urlencoded;charset=UTF-8';
    } else {
        out.bytes = utf8Encode(`${init}`);
        out.type = 'text/plain;charset=UTF-8';
    }
    return out;
}

async function readAll(stream) {
    const reader = stream.getReader(), parts = [];
    for (;;) {
        const { done, value } = await reader.read();
        if (done)
            return blobBytes(blobOf(join(parts), ''));
        if (asBytes(value) === undefined)
            throw new TypeError('The stream of a body gives bytes: Uint8Arrays');
        parts.push(asBytes(value));
    }
}

function join(parts) {
    const out = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
    let at = 0;
    for (const part of parts) {
        out.set(part, at);
        at += part.length;
    }
    return out;
}

export class Body {
    #body = null;
    #used = false;

    // Called by the two classes below once; a program that called it would only change its own object.
    static fill(self, body) { self.#body = body; }
    static peek(self) { return self.#body; }
    static isUsable(self) { return !self.#used && !(self.#body?.stream?.locked ?? false); }

    async #consume(what) {
        const body = this.#body;
        if (body === null)
            return new Uint8Array();
        if (this.#used || body.stream?.locked)
            throw new TypeError(`The body was read already, so ${what}() has none; keep what the first read gave, or clone() before it`);
        if (body.stream !== undefined) {
            const all = readAll(body.stream);
            this.#used = true;
            return all;
        }
        this.#used = true;
        return body.bytes;
    }

    get body() {
        const body = this.#body;
        if (body === null)
            return null;
        if (body.stream === undefined) {
            const touched = () => {
                this.#used = true;
            };
            body.stream = streamOf(this.#used ? new Uint8Array() : body.bytes, touched);
            if (this.#used)
                body.stream.getReader();
        }
        return body.stream;
    }

    get bodyUsed() { return this.#used; }
    async text() { return utf8Decode(await this.#consume('text')); }
    async bytes() { return (await this.#consume('bytes')).slice(); }
    async arrayBuffer() { return (await this.#consume('arrayBuffer')).slice().buffer; }
    async blob() { return blobOf((await this.#consume('blob')).slice(), this.headers.get('content-type') ?? ''); }
    async formData() { return decodeForm(await this.#consume('formData'), this.headers.get('content-type') ?? ''); }

    async json() {
        const text = utf8Decode(await this.#consume('json'));
        try {
            return JSON.parse(text);
        } catch (e) {
            const start = text.slice(0, 60);
            throw new SyntaxError(`The body is no JSON: ${e.message}; it ${text === '' ? 'is empty' : `begins with ${JSON.stringify(start)}`}`);
        }
    }
}

const { fill, peek, isUsable } = Body;
delete Body.fill;
delete Body.peek;
delete Body.isUsable;
export { fill, isUsable, peek };

// The body of a clone: bytes are shared, since nobody changes them; a stream is split.
export function split(self) {
    const body = peek(self);
    if (body === null)
        return null;
    if (!isUsable(self))
        throw new TypeError('The body was read already; clone() before it is');
    if (body.bytes !== undefined)
        return { __proto__: null, bytes: body.bytes, stream: undefined, type: body.type };
    const [mine, other] = body.stream.tee();
    body.stream = mine;
    return { __proto__: null, bytes: undefined, stream: other, type: body.type };
}

// The bytes of a body that need not be waited for; it counts as read then.
export function bytesNow(self) {
    const body = peek(self);
    if (body === null || body.stream !== undefined || !isUsable(self))
        return undefined;
    self.bytes();
    return body.bytes;
}
