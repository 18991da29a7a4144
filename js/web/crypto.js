// crypto.subtle, as far as programs use it without a keystore: digests, and HMAC for signed requests.
import { sha1 } from '@noble/hashes/legacy.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
import { finish } from './finish.js';
import { BASIC } from './scripts.js';

const hashes = { __proto__: null, 'SHA-1': sha1, 'SHA-256': sha256, 'SHA-384': sha384, 'SHA-512': sha512 };

function fail(name, message) {
    throw new (kit.load(BASIC).DOMException)(message, name);
}

function nameOf(algorithm) {
    const name = typeof algorithm === 'object' && algorithm !== null ? algorithm.name : algorithm;
    return `${name}`.toUpperCase();
}

function hashOf(algorithm) {
    const name = nameOf(algorithm);
    if (!(name in hashes))
        fail('NotSupportedError', `There is no digest "${name}" here; there are ${Object.keys(hashes).join(', ')}`);
    return name;
}

function bytesOf(data, what) {
    if (ArrayBuffer.isView(data))
        return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (data instanceof ArrayBuffer)
        return new Uint8Array(data);
    throw new TypeError(`${what} takes bytes: new TextEncoder().encode(text), another view, or an ArrayBuffer`);
}

function needsHmac(name, what) {
    if (name !== 'HMAC')
        fail('NotSupportedError', `crypto.subtle.${what} knows "HMAC" here, and no "${name}"`);
}

let secretOf, makeKey;

class CryptoKey {
    #secret;
    #about;

    constructor(guard, secret, about) {
        if (guard !== makeKey)
            throw new TypeError('CryptoKey has no constructor; use crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])');
        this.#secret = secret;
        this.#about = about;
    }

    static {
        secretOf = key => key.#secret;
        makeKey = (secret, about) => new CryptoKey(makeKey, secret, about);
    }

    get type() { return 'secret'; }
    get extractable() { return this.#about.extractable; }
    get algorithm() { return this.#about.algorithm; }
    get usages() { return this.#about.usages; }
}

function keyFor(key, usage) {
    if (!(key instanceof CryptoKey))
        throw new TypeError(`crypto.subtle.${usage} takes a CryptoKey, which crypto.subtle.importKey makes`);
    if (!key.usages.includes(usage))
        fail('InvalidAccessError', `This key was not imported for "${usage}"; its usages are ${JSON.stringify(key.usages)}`);
    return key;
}

const mac = (key, data, what) => hmac(hashes[key.algorithm.hash.name], secretOf(key), bytesOf(data, `crypto.subtle.${what}`));

// Whether two are the same, by a time that does not tell where they differ.
function same(a, b) {
    let differs = a.length ^ b.length;
    for (let i = 0; i < a.length; i++)
        differs |= a[i] ^ b[i];
    return differs === 0;
}

const base64url = { alphabet: 'base64url', omitPadding: true };
const jwkNames = { __proto__: null, 'SHA-1': 'HS1', 'SHA-256': 'HS256', 'SHA-384': 'HS384', 'SHA-512': 'HS512' };

class SubtleCrypto {
    async digest(algorithm, data) {
        return hashes[hashOf(algorithm)](bytesOf(data, 'crypto.subtle.digest').slice()).buffer;
    }

    async importKey(format, data, algorithm, extractable, usages) {
        needsHmac(nameOf(algorithm), 'importKey');
        if (typeof algorithm !== 'object' || algorithm.hash === undefined)
            throw new TypeError('An HMAC key needs its digest: { name: "HMAC", hash: "SHA-256" }');
        let secret;
        if (format === 'jwk' && data?.kty === 'oct')
            secret = Uint8Array.fromBase64(`${data.k}`, { alphabet: 'base64url' });
        else if (format === 'raw')
            secret = bytesOf(data, 'crypto.subtle.importKey').slice();
        else
            fail('NotSupportedError', `An HMAC key is imported as "raw" or as a "jwk" of the kind "oct", not as "${format}"`);
        const list = [...usages];
        if (list.length === 0 || list.some(usage => usage !== 'sign' && usage !== 'verify'))
            fail('SyntaxError', 'The usages of an HMAC key are "sign" and "verify", at least one of them');
        if (secret.length === 0)
            fail('DataError', 'An HMAC key has at least one byte');
        return makeKey(secret, {
            extractable: !!extractable, usages: list,
            algorithm: { name: 'HMAC', length: secret.length * 8, hash: { name: hashOf(algorithm.hash) } },
        });
    }

    async exportKey(format, key) {
        if (!(key instanceof CryptoKey))
            throw new TypeError('crypto.subtle.exportKey takes a CryptoKey');
        if (!key.extractable)
            fail('InvalidAccessError', 'This key was imported as one that is not extractable');
        if (format === 'raw')
            return secretOf(key).slice().buffer;
        if (format !== 'jwk')
            fail('NotSupportedError', `An HMAC key is exported as "raw" or "jwk", not as "${format}"`);
        return { kty: 'oct', k: secretOf(key).toBase64(base64url), alg: jwkNames[key.algorithm.hash.name], key_ops: key.usages, ext: true };
    }

    async sign(algorithm, key, data) {
        needsHmac(nameOf(algorithm), 'sign');
        return mac(keyFor(key, 'sign'), data, 'sign').buffer;
    }

    async verify(algorithm, key, signature, data) {
        needsHmac(nameOf(algorithm), 'verify');
        return same(mac(keyFor(key, 'verify'), data, 'verify'), bytesOf(signature, 'crypto.subtle.verify'));
    }
}

// What would need keys that nobody can guess: the randomness of a run is a function of its seed, so that it can be repeated.
for (const name of ['encrypt', 'decrypt', 'generateKey', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey']) {
    const { [name]: method } = {
        async [name]() {
            fail('NotSupportedError', `crypto.subtle.${name} is not here: it has digest, and HMAC by importKey, exportKey, sign and verify. `
                + 'Let a connector do the rest');
        },
    };
    Object.defineProperty(SubtleCrypto.prototype, name, { value: method, writable: true, enumerable: true, configurable: true });
}

finish({ CryptoKey, SubtleCrypto });
kit.describe(value => (value instanceof CryptoKey
    ? { __proto__: null, name: 'CryptoKey', data: { type: value.type, algorithm: value.algorithm, usages: value.usages }, advice: 'a key stays in the program that made it; return what it signed' }
    : undefined));

made = { __proto__: null, CryptoKey, SubtleCrypto, subtle: new SubtleCrypto() };
