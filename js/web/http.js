// Blob, File, FormData, Headers, Request, Response and fetch.
import { Blob, File, isBlob } from './blob.js';
import { Body, bytesNow, extract, fill, isUsable, peek, split } from './body.js';
import { finish, named } from './finish.js';
import { FormData, formEntries } from './formdata.js';
import { headerList, Headers } from './headers.js';
import { EVENTS, URLS } from './scripts.js';

const standard = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];

function methodOf(text) {
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text) || /^(connect|trace|track)$/i.test(text))
        throw new TypeError(`${JSON.stringify(text)} is no method of a request: GET, POST, PUT, PATCH, DELETE, HEAD and OPTIONS are`);
    return standard.includes(text.toUpperCase()) ? text.toUpperCase() : text;
}

function urlOf(text) {
    let url;
    try {
        url = new (kit.load(URLS).URL)(text);
    } catch {
        throw new TypeError(`${JSON.stringify(text)} is no whole URL: "https://example.com/path" is. There is no page here that a path could belong to`);
    }
    if (url.username !== '' || url.password !== '')
        throw new TypeError('A URL with a user name and a password in it cannot be requested; send an Authorization header');
    return url.href;
}

const choices = {
    __proto__: null,
    redirect: ['follow', 'error', 'manual'],
    credentials: ['omit', 'same-origin', 'include'],
    cache: ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'],
    mode: ['navigate', 'same-origin', 'no-cors', 'cors'],
};

function choose(name, init, usual) {
    const value = init[name] === undefined ? usual : `${init[name]}`;
    if (!choices[name].includes(value))
        throw new TypeError(`${name} is one of ${choices[name].map(each => `"${each}"`).join(', ')}; got "${value}"`);
    return value;
}

function signalOf(init, source) {
    const { AbortController, AbortSignal } = kit.load(EVENTS), given = init.signal === undefined ? source?.signal : init.signal;
    if (given === null || given === undefined)
        return new AbortController().signal;
    if (!(given instanceof AbortSignal))
        throw new TypeError('The signal of a request is an AbortSignal: new AbortController().signal or AbortSignal.timeout(ms)');
    return AbortSignal.any([given]);
}

class Request extends Body {
    #about;
    #headers;
    #signal;

    constructor(input, init = {}) {
        if (arguments.length === 0)
            throw new TypeError('A Request takes a URL: new Request("https://example.com/")');
        super();
        const source = input instanceof Request ? input : undefined, given = init ?? {};
        this.#about = {
            url: source?.url ?? urlOf(`${input}`),
            method: given.method === undefined ? source?.method ?? 'GET' : methodOf(`${given.method}`),
            redirect: choose('redirect', given, source?.redirect ?? 'follow'),
            credentials: choose('credentials', given, source?.credentials ?? 'same-origin'),
            cache: choose('cache', given, source?.cache ?? 'default'),
            mode: choose('mode', given, source?.mode ?? 'cors'),
            integrity: `${given.integrity ?? source?.integrity ?? ''}`,
            keepalive: !!(given.keepalive ?? source?.keepalive ?? false),
            referrerPolicy: `${given.referrerPolicy ?? source?.referrerPolicy ?? ''}`,
        };
        this.#headers = new Headers(given.headers ?? source?.headers);
        this.#signal = signalOf(given, source);
        const takes = given.body === undefined || given.body === null ? false : true;
        if ((takes || (source !== undefined && peek(source) !== null)) && (this.method === 'GET' || this.method === 'HEAD'))
            throw new TypeError(`A ${this.method} request has no body; use method: "POST", or put the values into the URL`);
        if (!takes && source !== undefined && peek(source) !== null && !isUsable(source))
            throw new TypeError('The body of this Request was read already');
        const body = takes ? extract(given.body) : source === undefined ? null : take(source);
        fill(this, body);
        if (takes && body.type !== undefined && !this.#headers.has('content-type'))
            this.#headers.append('content-type', body.type);
    }

    get method() { return this.#about.method; }
    get url() { return this.#about.url; }
    get headers() { return this.#headers; }
    get signal() { return this.#signal; }
    get redirect() { return this.#about.redirect; }
    get credentials() { return this.#about.credentials; }
    get cache() { return this.#about.cache; }
    get mode() { return this.#about.mode; }
    get integrity() { return this.#about.integrity; }
    get keepalive() { return this.#about.keepalive; }
    get destination() { return ''; }
    get referrer() { return 'about:client'; }
    get referrerPolicy() { return this.#about.referrerPolicy; }
    get duplex() { return 'half'; }

    clone() {
        const body = split(this), copy = new Request(this.url, { ...this.#about, headers: this.#headers, signal: this.#signal });
        fill(copy, body);
        return copy;
    }
}

// A Request made of another takes its body away.
function take(source) {
    const body = split(source);
    bytesNow(source);
    return body;
}

const nullBody = status => status === 101 || status === 103 || status === 204 || status === 205 || status === 304;
const redirects = [301, 302, 303, 307, 308];
// What only this file may say of a response: its type, its address, and any status.
const internal = {};

class Response extends Body {
    #about;
    #headers;

    constructor(body = null, init = {}, more = undefined) {
        super();
        const given = init ?? {}, status = given.status === undefined ? 200 : Math.trunc(Number(given.status)), statusText = `${given.statusText ?? ''}`;
        const ours = more !== undefined && more.key === internal;
        if (!ours && !(status >= 200 && status <= 599))
            throw new RangeError(`The status of a Response is a number from 200 to 599; got ${given.status}`);
        if (/[^\t\x20-\x7e\x80-\xff]/.test(statusText))
            throw new TypeError('The statusText of a Response has a character in it that none can have');
        this.#about = { status, statusText, type: 'default', url: '', redirected: false, ...(ours ? more.about : undefined) };
        this.#headers = new Headers(given.headers);
        const held = extract(body);
        if (held === null)
            return;
        if (nullBody(status) && !ours)
            throw new TypeError(`A Response with the status ${status} has no body; pass null`);
        fill(this, held);
        if (held.type !== undefined && !this.#headers.has('content-type'))
            this.#headers.append('content-type', held.type);
    }

    get type() { return this.#about.type; }
    get url() { return this.#about.url; }
    get redirected() { return this.#about.redirected; }
    get status() { return this.#about.status; }
    get ok() { return this.#about.status >= 200 && this.#about.status <= 299; }
    get statusText() { return this.#about.statusText; }
    get headers() { return this.#headers; }

    clone() {
        const body = split(this), copy = new Response(null, { ...this.#about, headers: this.#headers }, { key: internal, about: this.#about });
        fill(copy, body);
        return copy;
    }

    static error() { return new Response(null, { status: 0 }, { key: internal, about: { type: 'error' } }); }

    static json(data, init = {}) {
        const text = JSON.stringify(data);
        if (text === undefined)
            throw new TypeError('Response.json takes data; a function, a symbol or undefined has no JSON');
        const headers = new Headers(init?.headers);
        if (!headers.has('content-type'))
            headers.set('content-type', 'application/json');
        return new Response(text, { ...init, headers });
    }

    static redirect(url, status = 302) {
        if (!redirects.includes(status))
            throw new RangeError(`The status of a redirect is one of ${redirects.join(', ')}; got ${status}`);
        return new Response(null, { status, headers: { location: urlOf(`${url}`) } });
    }
}

const answer = r => new Response(nullBody(r.status) || r.body === undefined || r.body === null ? null : r.body, {
    status: r.status, statusText: r.statusText, headers: r.headers,
}, { key: internal, about: { type: 'basic', url: r.url, redirected: r.redirected === true } });

// The answer, or the reason of the signal, whichever is first. Then the host cancels the request, and records how it ended.
function unlessAborted(signal, request) {
    return new Promise((yes, no) => {
        signal.addEventListener('abort', () => {
            request.giveUp();
            no(signal.reason);
        }, { once: true });
        request.answer.then(yes, no);
    });
}

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];

async function send(input, init) {
    if (!kit.mayFetch())
        throw new TypeError(kit.noNetwork());
    const request = new Request(input, init), { signal, url } = request, method = request.method.toLowerCase();
    signal.throwIfAborted();
    if (!methods.includes(method))
        throw new TypeError(`fetch knows the methods ${methods.map(each => each.toUpperCase()).join(', ')}; got ${request.method}`);
    if (!/^https?:/.test(url))
        throw new TypeError(`fetch reaches http: and https: URLs only; got ${JSON.stringify(url)}`);
    // Without waiting where it can be: the line of a call is known while its program stands on the stack.
    const body = peek(request) === null ? undefined : bytesNow(request) ?? await request.bytes();
    signal.throwIfAborted();
    const args = { url, headers: headerList(request.headers), redirect: request.redirect };
    if (body !== undefined)
        args.body = body;
    return answer(await unlessAborted(signal, kit.fetch(method, args)));
}

const { fetch } = {
    fetch(input, init = {}) {
        return send(input, init);
    },
};

finish({ Body, Request, Response });

const pick = (value, ...names) => Object.fromEntries(names.map(name => [name, value[name]]));
const shapes = [
    [Headers, 'Headers', value => Object.fromEntries(headerList(value)), 'return Object.fromEntries(headers) instead'],
    [File, 'File', value => pick(value, 'name', 'size', 'type', 'lastModified'), 'return await file.bytes() or await file.text() instead'],
    [Blob, 'Blob', value => pick(value, 'size', 'type'), 'return await blob.bytes() or await blob.text() instead'],
    [FormData, 'FormData', value => Object.fromEntries(formEntries(value)), 'return Object.fromEntries(form) instead'],
    [Response, 'Response', value => pick(value, 'status', 'ok', 'url', 'headers', 'bodyUsed'), 'return what is in it: await response.json() or await response.text()'],
    [Request, 'Request', value => pick(value, 'method', 'url', 'headers', 'bodyUsed'), 'return its fields, such as request.url'],
];

kit.describe(value => {
    for (const [Type, name, data, advice] of shapes) {
        if (value instanceof Type && (Type !== Blob || isBlob(value)))
            return { __proto__: null, name, data: data(value), advice };
    }
    return undefined;
});

made = named({ Blob, File, FormData, Headers, Request, Response, fetch });
