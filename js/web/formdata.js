// FormData, and its two forms as a body: multipart/form-data both ways, and application/x-www-form-urlencoded as it arrives.
import { Blob, blobBytes, blobOf, File, isBlob } from './blob.js';
import { finish } from './finish.js';
import { latin1 } from './latin1.js';
import { URLS } from './scripts.js';
import { utf8Decode, utf8Encode } from './utf8.js';

let entriesOf;

function entry(name, value, filename, given) {
    const key = `${name}`.toWellFormed();
    if (!isBlob(value)) {
        if (given)
            throw new TypeError('A file name goes with a Blob or File: form.append(name, new Blob([text]), "notes.txt")');
        return [key, `${value}`.toWellFormed()];
    }
    if (value instanceof File && !given)
        return [key, value];
    const fileName = given ? `${filename}` : value instanceof File ? value.name : 'blob';
    return [key, new File([value], fileName, { type: value.type, lastModified: value.lastModified })];
}

export class FormData {
    #list = [];

    constructor(form) {
        if (form !== undefined)
            throw new TypeError('FormData is made empty here, since there is no page with forms; fill it by append(name, value)');
    }

    static {
        entriesOf = form => form.#list;
    }

    append(name, value, filename) {
        if (arguments.length < 2)
            throw new TypeError('FormData.append takes a name and a value');
        this.#list.push(entry(name, value, filename, arguments.length > 2));
    }

    set(name, value, filename) {
        if (arguments.length < 2)
            throw new TypeError('FormData.set takes a name and a value');
        const made = entry(name, value, filename, arguments.length > 2), at = this.#list.findIndex(([key]) => key === made[0]);
        this.#list = this.#list.filter(([key], i) => key !== made[0] || i === at);
        if (at < 0)
            this.#list.push(made);
        else
            this.#list[at] = made;
    }

    get(name) { return this.#list.find(([key]) => key === `${name}`)?.[1] ?? null; }
    getAll(name) { return this.#list.filter(([key]) => key === `${name}`).map(([, value]) => value); }
    has(name) { return this.#list.some(([key]) => key === `${name}`); }
    delete(name) { this.#list = this.#list.filter(([key]) => key !== `${name}`); }

    forEach(callback, self) {
        for (const [name, value] of this.#list)
            callback.call(self, value, name, this);
    }

    *entries() {
        for (const [name, value] of this.#list)
            yield [name, value];
    }
    *keys() {
        for (const [name] of this.#list)
            yield name;
    }
    *values() {
        for (const [, value] of this.#list)
            yield value;
    }
}

Object.defineProperty(FormData.prototype, Symbol.iterator, { value: FormData.prototype.entries, writable: true, configurable: true });
finish({ FormData });

export const formEntries = form => entriesOf(form);

const quote = name => name.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22');
const breaks = text => text.replace(/\r\n?|\n/g, '\r\n');

// {bytes, type}
export function encodeForm(form) {
    const boundary = '----formdata-' + kit.randomUUID();
    const parts = [];
    for (const [name, value] of entriesOf(form)) {
        const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quote(breaks(name))}"`;
        if (typeof value === 'string')
            parts.push(`${head}\r\n\r\n${breaks(value)}\r\n`);
        else
            parts.push(`${head}; filename="${quote(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`, value, '\r\n');
    }
    parts.push(`--${boundary}--\r\n`);
    return { __proto__: null, bytes: blobBytes(new Blob(parts)), type: 'multipart/form-data; boundary=' + boundary };
}

function badForm(what) {
    throw new TypeError(`The body is no form: ${what}`);
}

const unquote = name => name.replace(/%0A/g, '\n').replace(/%0D/g, '\r').replace(/%22/g, '"');

function addPart(form, head, bytes) {
    const disposition = /^content-disposition:[ \t]*form-data;(.*)$/im.exec(head)?.[1] ?? badForm('a part has no Content-Disposition');
    const name = /(?:^|[; \t])name="([^"]*)"/i.exec(disposition)?.[1] ?? badForm('a part has no name');
    const filename = /filename="([^"]*)"/i.exec(disposition)?.[1];
    if (filename === undefined)
        form.append(unquote(name), utf8Decode(bytes));
    else
        form.append(unquote(name), new File([blobOf(bytes, '')], unquote(filename), { type: /^content-type:[ \t]*(.*?)[ \t]*$/im.exec(head)?.[1] ?? 'text/plain' }));
}

// Bytes as text of one character each, in which a boundary is found; positions are the same in both.
function decodeMultipart(bytes, boundary) {
    const form = new FormData(), text = latin1(bytes), mark = '--' + latin1(utf8Encode(boundary));
    let at = text.indexOf(mark);
    if (at < 0)
        badForm('its boundary is not in it');
    for (at += mark.length; text.slice(at, at + 2) === '\r\n';) {
        const head = text.indexOf('\r\n\r\n', at), end = text.indexOf('\r\n' + mark, head);
        if (head < 0 || end < 0)
            badForm('it ends in the middle of a part');
        addPart(form, utf8Decode(bytes.subarray(at + 2, head)), bytes.slice(Math.min(head + 4, end), end));
        at = end + 2 + mark.length;
    }
    if (text.slice(at, at + 2) !== '--')
        badForm('its last boundary is missing');
    return form;
}

export function decodeForm(bytes, type) {
    const [kind] = type.split(';');
    if (kind.trim().toLowerCase() === 'application/x-www-form-urlencoded') {
        const form = new FormData();
        for (const [name, value] of new (kit.load(URLS).URLSearchParams)(utf8Decode(bytes)))
            form.append(name, value);
        return form;
    }
    const boundary = /;[ \t]*boundary=(?:"([^"]*)"|([^;]*))/i.exec(type);
    if (kind.trim().toLowerCase() !== 'multipart/form-data' || boundary === null)
        badForm(`its Content-Type is ${JSON.stringify(type)}, and neither multipart/form-data with a boundary nor application/x-www-form-urlencoded`);
    return decodeMultipart(bytes, boundary[1] ?? boundary[2].trim());
}
