// Blob and File: bytes that do not change.
import { finish } from './finish.js';
import { STREAMS } from './scripts.js';
import { utf8Decode, utf8Encode } from './utf8.js';

let contents, adopt;

export const asBytes = data => (ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : data instanceof ArrayBuffer ? new Uint8Array(data) : undefined);

function join(parts, native) {
    if (typeof parts !== 'object' || parts === null || parts[Symbol.iterator] === undefined)
        throw new TypeError('A Blob takes a list of its parts first: new Blob([text], { type: "text/plain" })');
    const list = [];
    let size = 0;
    for (const part of parts) {
        const bytes = asBytes(part) ?? (isBlob(part) ? contents(part) : utf8Encode(native ? `${part}`.replace(/\r\n?|\n/g, '\n') : `${part}`));
        list.push(bytes);
        size += bytes.length;
    }
    const out = new Uint8Array(size);
    let at = 0;
    for (const bytes of list) {
        out.set(bytes, at);
        at += bytes.length;
    }
    return out;
}

// What is no printable ASCII makes the whole type empty, as the standard has it.
const typeOf = type => (/^[\x20-\x7e]*$/.test(type) ? type.toLowerCase() : '');

export function streamOf(bytes, touched) {
    const { ReadableStream } = kit.load(STREAMS);
    return new ReadableStream({
        pull(controller) {
            touched?.();
            if (bytes.length > 0)
                controller.enqueue(bytes.slice());
            controller.close();
        },
        cancel() {
            touched?.();
        },
    }, { highWaterMark: 0 });
}

export class Blob {
    #bytes;
    #type;

    constructor(parts = [], options = {}) {
        const endings = `${options?.endings ?? 'transparent'}`;
        if (endings !== 'transparent' && endings !== 'native')
            throw new TypeError(`The endings of a Blob are "transparent" or "native", not "${endings}"`);
        this.#bytes = join(parts, endings === 'native');
        this.#type = typeOf(`${options?.type ?? ''}`);
    }

    static {
        contents = blob => blob.#bytes;
        adopt = (bytes, type) => {
            const blob = new Blob([], { type });
            blob.#bytes = bytes;
            return blob;
        };
    }

    static holds(value) { return #bytes in value; }

    get size() { return this.#bytes.length; }
    get type() { return this.#type; }
    async text() { return utf8Decode(this.#bytes); }
    async arrayBuffer() { return this.#bytes.slice().buffer; }
    async bytes() { return this.#bytes.slice(); }
    stream() { return streamOf(this.#bytes); }
    slice(start, end, type = '') { return adopt(this.#bytes.slice(start, end), `${type}`); }
}

const { holds } = Blob;
delete Blob.holds;
export const isBlob = value => typeof value === 'object' && value !== null && holds(value);
export const blobBytes = blob => contents(blob);
export const blobOf = (bytes, type) => adopt(bytes, type);

export class File extends Blob {
    #name;
    #lastModified;

    constructor(parts, name, options = {}) {
        if (arguments.length < 2)
            throw new TypeError('A File takes its parts and its name: new File([text], "notes.txt", { type: "text/plain" })');
        super(parts, options);
        this.#name = `${name}`.toWellFormed();
        this.#lastModified = options?.lastModified === undefined ? kit.now() : Math.trunc(Number(options.lastModified)) || 0;
    }

    get name() { return this.#name; }
    get lastModified() { return this.#lastModified; }
    get webkitRelativePath() { return ''; }
}

finish({ Blob, File });

kit.clones(value => {
    if (!isBlob(value))
        return undefined;
    return value instanceof File ? new File([value], value.name, { type: value.type, lastModified: value.lastModified }) : blobOf(contents(value), value.type);
});
