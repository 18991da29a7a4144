// Time and randomness of a pass. The clock moves on deliveries only, and randomness is a function of (seed, number of the delivery),
// so that a replay sees what the first pass saw. The generator is xoshiro128** seeded by splitmix32: even and fast, and *not*
// cryptographic - whoever knows the seed knows every value.
import {
    apply, BytesFn, construct, cut, DateFn, dateText, define, defineProperty, freeze, getOwnPropertyDescriptor, global, imul, isView, NumberFn,
    numberText, once, ProxyFn, RangeErrorFn, tagSymbol, typedBuffer, typedBytes, TypeErrorFn, typedOffset, typedTag,
} from './primordials.js';
import { lazy } from './lazy.js';
import { state } from './state.js';
import { load } from './web.js';
import { CRYPTO } from '../web/scripts.js';

let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
let hasKey = false, k0 = 0, k1 = 0, k2 = 0, k3 = 0;

function mix(x) {
    x = imul(x ^ (x >>> 16), 0x21f0aaad);
    x = imul(x ^ (x >>> 15), 0x735a2d97);
    return x ^ (x >>> 15);
}

function readKey() {
    const word = i => NumberFn('0x' + cut(state.seed, i, i + 8)) | 0;
    k0 = word(0);
    k1 = word(8);
    k2 = word(16);
    k3 = word(24);
    hasKey = true;
}

// At the first number that is drawn after a delivery; most programs draw none.
function reseed() {
    if (!hasKey)
        readKey();
    s0 = mix(k0 + imul(state.draw, 0x9e3779b9));
    s1 = mix(k1 ^ s0);
    s2 = mix(k2 ^ s1);
    // All zero is the one state that stays where it is.
    s3 = mix(k3 ^ s2) || 1;
    state.isSeeded = true;
}

function next32() {
    if (!state.isSeeded)
        reseed();
    const x = imul(s1, 5), out = imul((x << 7) | (x >>> 25), 9) >>> 0, t = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= t;
    s3 = (s3 << 11) | (s3 >>> 21);
    return out;
}

const random = () => ((next32() >>> 5) * 0x4000000 + (next32() >>> 6)) / 0x20000000000000;

export const cryptography = once(() => {
    const hex = byte => (byte < 16 ? '0' : '') + apply(numberText, byte, [16]);
    const crypto = {
        getRandomValues(array) {
            const kind = isView(array) ? apply(typedTag, array, []) : undefined;
            if (kind === undefined || kind === 'Float32Array' || kind === 'Float64Array' || kind === 'Float16Array')
                throw new TypeErrorFn('crypto.getRandomValues takes an integer typed array, such as new Uint8Array(16)');
            const n = apply(typedBytes, array, []);
            if (n > 65536)
                throw new RangeErrorFn(`crypto.getRandomValues fills at most 65536 bytes; this array has ${n}`);
            const bytes = new BytesFn(apply(typedBuffer, array, []), apply(typedOffset, array, []), n);
            for (let i = 0; i < n; i++)
                bytes[i] = next32() >>> 24;
            return array;
        },
        randomUUID() {
            let out = '';
            for (let i = 0; i < 16; i++) {
                let byte = next32() >>> 24;
                if (i === 6)
                    byte = (byte & 15) | 0x40;
                if (i === 8)
                    byte = (byte & 63) | 0x80;
                out += (i === 4 || i === 6 || i === 8 || i === 10 ? '-' : '') + hex(byte);
            }
            return out;
        },
        get subtle() {
            return load(CRYPTO).subtle;
        },
    };
    define(crypto, tagSymbol, 'Crypto', false, false);
    return freeze(crypto);
});

const performance = () => freeze({
    now: () => state.now - state.start,
    get timeOrigin() {
        return state.start;
    },
});

function patchDate() {
    DateFn.now = () => state.now;
    const Date = new ProxyFn(DateFn, {
        __proto__: null,
        apply: () => apply(dateText, new DateFn(state.now), []),
        construct: (_, args, target) => construct(DateFn, args.length === 0 ? [state.now] : args, target),
    });
    DateFn.prototype.constructor = Date;
    global.Date = Date;
}

// What it replaced stands in what replaces it, so it may run again over its own work: the first time can end in the middle, where the
// program had used up the stack.
function patchIntl(intl) {
    const format = intl.DateTimeFormat.prototype;
    const getter = getOwnPropertyDescriptor(format, 'format').get, { formatToParts } = format;
    defineProperty(format, 'format', {
        __proto__: null, enumerable: false, configurable: true, set: undefined,
        get() {
            const bound = apply(getter, this, []);
            return date => bound(date === undefined ? state.now : date);
        },
    });
    define(format, 'formatToParts', {
        formatToParts(date) {
            return apply(formatToParts, this, [date === undefined ? state.now : date]);
        },
    }.formatToParts, false, true);
    return intl;
}

export function install() {
    patchDate();
    Math.random = random;
    lazy('crypto', cryptography);
    lazy('performance', performance);
    const intl = global.Intl;
    // The engine's own object is not to be had before it is patched: it would show the real time.
    lazy('Intl', () => patchIntl(intl));
}
