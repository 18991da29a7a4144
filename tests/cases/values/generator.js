// Values of every kind that can cross, made from a seed, and what each crossing is to make of them. Run by Node and, as the same
// text, inside the sandbox: tests/e2e/values.test.mjs. What is expected here is written down from the documents (docs/values.md) and
// shares nothing with the code that is tested.

function makeRandom(seed) {
  let a = seed >>> 0;
  return n => { // mulberry32
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * n);
  };
}

const TEXTS = ['', 'a', 'hello world', '"', '\\', '\n\t\r\b\f', '\u0000', '\u001f\u007f', '\u2028\u2029', 'é', 'ß→😀', '\ufffd', '\ufeff', '</script>',
  '$', '$bytes', '{"$bytes":"AAAA"}', 'undefined', 'NaN', '-0', '1n', '2020-01-01T00:00:00.000Z', 'AAAA', '~0~1/', 'x'.repeat(300)];
const KEYS = ['a', 'b', 'name', 'message', 'code', '', ' ', '/', '~', '~0', '~1', 'a/b', 'm~n', '0', '1', '10', '-1', '$', '$bytes', '$$bytes', '$map',
  '$set', '$error', '$type', '__proto__', 'constructor', 'prototype', 'toString', 'then', 'length', 'toJSON', 'valueOf', 'marks', 'json', 'é', '😀', '\u0000',
  'a"b', '\\'];
const NUMBERS = [0, -0, 1, -1, 0.1 + 0.2, 1.5, -2.25, 1e21, 1e-7, 1e300, 5e-324, 2 ** 53, 2 ** 53 - 1, 2 ** 53 + 2, -(2 ** 53), -(2 ** 53) - 2, 2 ** 31, -(2 ** 31),
  123456789012345680000, 1e20, NaN, Infinity, -Infinity];
const BIGINTS = [0n, 1n, -1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n, 2n ** 64n, 12345678901234567890123456789n, -(10n ** 40n)];
const VIEWS = [Uint8Array, Int8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array];
const TYPE_NAMES = { Int8Array: 'int8', Uint8ClampedArray: 'uint8c', Int16Array: 'int16', Uint16Array: 'uint16', Int32Array: 'int32', Uint32Array: 'uint32',
  Float32Array: 'float32', Float64Array: 'float64', BigInt64Array: 'bigint64', BigUint64Array: 'biguint64', DataView: 'dataview' };

const put = (o, key, value) => Object.defineProperty(o, key, { value, writable: true, enumerable: true, configurable: true });

function makeBytes(r) {
  const bytes = new Uint8Array(r(40));
  for (let i = 0; i < bytes.length; i++) bytes[i] = r(256);
  return bytes;
}

function makeView(r) {
  const bytes = makeBytes(r);
  const kind = r(VIEWS.length + 2);
  if (kind === VIEWS.length) return bytes.buffer;
  if (kind > VIEWS.length) return new DataView(bytes.buffer, 0, r(bytes.length + 1));
  const Type = VIEWS[kind];
  const n = Math.floor(bytes.length / Type.BYTES_PER_ELEMENT);
  const from = r(n + 1); // also the middle of a buffer
  return new Type(bytes.buffer, from * Type.BYTES_PER_ELEMENT, r(n - from + 1));
}

function makeError(r, depth) {
  const Type = [Error, TypeError, RangeError, SyntaxError, ReferenceError][r(5)];
  const message = TEXTS[r(TEXTS.length)];
  if (r(8) === 0) return new AggregateError([makeValue(r, depth - 1), makeValue(r, depth - 1)], message);
  const e = r(2) ? new Type(message) : new Type(message, { cause: makeValue(r, depth - 1) });
  for (let i = r(3); i > 0; i--) {
    const key = KEYS[r(KEYS.length)];
    if (!['name', 'message', 'cause', 'errors', '__proto__', 'toString', 'constructor'].includes(key)) put(e, key, makeValue(r, depth - 1));
  }
  return e;
}

function makeContainer(r, depth) {
  const n = r(5);
  const kind = r(10);
  if (kind < 3) return Array.from({ length: n }, () => makeValue(r, depth - 1));
  if (kind === 3) {
    const list = [makeValue(r, depth - 1)];
    list[2 + r(3)] = makeValue(r, depth - 1); // with holes
    return list;
  }
  if (kind === 4) return new Map(Array.from({ length: n }, () => [makeValue(r, depth - 1), makeValue(r, depth - 1)]));
  if (kind === 5) return new Set(Array.from({ length: n }, () => makeValue(r, depth - 1)));
  if (kind === 6) return makeError(r, depth);
  const o = kind === 7 ? Object.create(null) : {};
  for (let i = 0; i < n; i++) put(o, KEYS[r(KEYS.length)], makeValue(r, depth - 1));
  if (n === 4) put(o, 'shared', o[Object.keys(o)[0]]);
  return o;
}

function makeValue(r, depth) {
  if (depth > 0 && r(2)) return makeContainer(r, depth);
  switch (r(14)) {
    case 0: return null;
    case 1: return r(2) === 0;
    case 2: return undefined;
    case 3: case 4: return NUMBERS[r(NUMBERS.length)];
    case 5: return (r(2 ** 30) - 2 ** 29) / [1, 1, 3, 1000][r(4)];
    case 6: return BIGINTS[r(BIGINTS.length)];
    case 7: return new Date([0, 1, -1, 1700000000123, -62198755200001, 8.64e15, -8.64e15, 253402300800000, NaN][r(9)]);
    case 8: return makeView(r);
    case 9: return makeBytes(r);
    case 10: return Object([1.5, 'boxed', true][r(3)]);
    default: return TEXTS[r(TEXTS.length)];
  }
}

// ---- what is to become of it

const isOf = (v, Type) => v instanceof Type;
const isBoxed = v => isOf(v, Number) || isOf(v, String) || isOf(v, Boolean);

function base64(v) {
  const bytes = isOf(v, ArrayBuffer) ? new Uint8Array(v) : new Uint8Array(v.buffer, v.byteOffset, v.byteLength);
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let out = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const w = (bytes[i] << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    out += digits[w >> 18] + digits[(w >> 12) & 63] + (i + 1 < bytes.length ? digits[(w >> 6) & 63] : '=') + (i + 2 < bytes.length ? digits[w & 63] : '=');
  }
  return out;
}

const isoText = v => (isNaN(v.getTime()) ? null : v.toISOString());

/** Name, message, own fields, then what is not enumerable but belongs to an error. */
function errorEntries(e) {
  const entries = [['name', e.name], ['message', e.message]];
  for (const key of Object.keys(e)) if (key !== 'name' && key !== 'message') entries.push([key, e[key]]);
  for (const key of ['cause', 'errors']) if (Object.hasOwn(e, key) && !Object.keys(e).includes(key)) entries.push([key, e[key]]);
  return entries;
}

/** Whether b is what a has to be on the far side of a faithful crossing; otherwise where it is not. */
function difference(a, b, at = 'value') {
  if (isBoxed(a)) a = a.valueOf();
  if (typeof a !== 'object' || a === null) return Object.is(a, b) ? '' : `${at}: ${typeof a} ${String(a)} became ${typeof b} ${String(b)}`;
  if (typeof b !== 'object' || b === null) return `${at}: an object became ${String(b)}`;
  const kind = Array.isArray(a) ? 'Array' : Object.prototype.toString.call(a).slice(8, -1);
  const now = Array.isArray(b) ? 'Array' : Object.prototype.toString.call(b).slice(8, -1);
  if (kind !== now) return `${at}: ${kind} became ${now}`;
  if (isOf(a, Date)) return Object.is(a.getTime(), b.getTime()) ? '' : `${at}: another time`;
  if (isOf(a, ArrayBuffer) || ArrayBuffer.isView(a)) return base64(a) === base64(b) ? '' : `${at}: other bytes`;
  // Two boxes of one value are one value.
  const unboxed = x => (isBoxed(x) ? x.valueOf() : x);
  if (isOf(a, Map)) return difference([...new Map(Array.from(a, ([k, v]) => [unboxed(k), v]))], [...b], at + '.map');
  if (isOf(a, Set)) return difference([...new Set(Array.from(a, unboxed))], [...b], at + '.set');
  if (isOf(a, Error)) {
    const known = ['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'AggregateError'].includes(a.name);
    if (known && Object.getPrototypeOf(b).name !== a.name) return `${at}: another class of error`;
    return difference(new Map(errorEntries(a)), new Map(errorEntries(b)), at + '.error');
  }
  if (Array.isArray(a)) {
    if (a.length !== b.length) return `${at}: length ${a.length} became ${b.length}`;
    for (let i = 0; i < a.length; i++) {
      const d = difference(a[i], b[i], `${at}[${i}]`);
      if (d) return d;
    }
    return '';
  }
  if (Object.getPrototypeOf(b) !== Object.prototype) return `${at}: no plain object`;
  const keys = Object.keys(a), others = Object.keys(b);
  if (keys.join('|') !== others.join('|')) return `${at}: keys ${keys.join('|')} became ${others.join('|')}`;
  for (const key of keys) {
    const d = difference(a[key], b[key], `${at}.${key}`);
    if (d) return d;
  }
  return '';
}

/** What a reader is shown, as data for JSON.stringify. In a failure, errors are plain objects. */
function shown(v, inFailure = false) {
  if (isBoxed(v)) v = v.valueOf();
  if (typeof v === 'bigint' || (typeof v === 'number' && !isFinite(v))) return String(v);
  if (typeof v !== 'object' || v === null) return v === undefined ? null : v;
  const list = values => Array.from(values, x => shown(x, inFailure));
  const record = entries => {
    const o = {};
    for (const [key, value] of entries) if (value !== undefined) put(o, key.startsWith('$') ? '$' + key : key, shown(value, inFailure));
    return o;
  };
  if (isOf(v, Date)) return isoText(v);
  if (isOf(v, ArrayBuffer) || isOf(v, Uint8Array)) return { $bytes: base64(v) };
  if (ArrayBuffer.isView(v)) return { $bytes: base64(v), $type: TYPE_NAMES[v.constructor.name] };
  if (isOf(v, Map)) return { $map: Array.from(v, list) };
  if (isOf(v, Set)) return { $set: list(v) };
  if (isOf(v, Error)) return inFailure ? record(errorEntries(v)) : { $error: record(errorEntries(v)) };
  return Array.isArray(v) ? list(v) : record(Object.entries(v));
}

const sorted = entries => entries.filter(([, x]) => x !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));

/**
 * The JSON text that a tool receives: as JSON.stringify writes it, but bytes as base64, bigints as integers, errors with their fields;
 * members are in the order of their names.
 */
function sent(v) {
  if (isBoxed(v)) v = v.valueOf();
  if (typeof v === 'bigint') return String(v);
  if (typeof v !== 'object' || v === null) return JSON.stringify(v) ?? 'null';
  const record = entries => '{' + sorted(entries).map(([key, x]) => JSON.stringify(key) + ':' + sent(x)).join(',') + '}';
  if (isOf(v, Date)) return JSON.stringify(isoText(v));
  if (isOf(v, ArrayBuffer) || ArrayBuffer.isView(v)) return JSON.stringify(base64(v));
  if (isOf(v, Map) || isOf(v, Set)) return '{}';
  if (isOf(v, Error)) return record(errorEntries(v));
  return Array.isArray(v) ? '[' + Array.from(v, sent).join(',') + ']' : record(Object.entries(v));
}

/** What a program gets from a tool that answers with such a text: integers beyond 2^53 are bigints. */
function received(v) {
  if (isBoxed(v)) v = v.valueOf();
  if (typeof v === 'bigint') return v >= -(2n ** 53n) && v <= 2n ** 53n ? Number(v) : v;
  if (typeof v === 'number' && Number.isInteger(v) && Math.abs(v) > 2 ** 53 && Math.abs(v) < 1e21) return BigInt(String(v));
  if (typeof v === 'number') return isFinite(v) ? v + 0 : null;
  if (typeof v !== 'object' || v === null) return v === undefined ? null : v;
  const record = entries => {
    const o = {};
    for (const [key, value] of sorted(entries)) put(o, key, received(value));
    return o;
  };
  if (isOf(v, Date)) return isoText(v);
  if (isOf(v, ArrayBuffer) || ArrayBuffer.isView(v)) return base64(v);
  if (isOf(v, Map) || isOf(v, Set)) return {};
  if (isOf(v, Error)) return record(errorEntries(v));
  return Array.isArray(v) ? Array.from(v, received) : record(Object.entries(v));
}
