// Values: what js/prelude/codec.js makes of a value comes back as the same value, whatever stands in it; what has no faithful form is a
// TypeError that names its place; getters, proxies and toJSON run once; and no document becomes anything but itself. An input is
// the expression that makes a value.
import assert from 'node:assert/strict';
import './engine.mjs';

const { decode, encode } = await import('../../js/prelude/codec.js');

// What an expression may use: counted(n, value) is to be asked for once, boom() throws what nobody else throws.
class Boom extends Error {}
const scope = (counts) => ({
  counted: (n, value) => {
    counts[n] = (counts[n] ?? 0) + 1;
    return value;
  },
  boom: () => {
    throw new Boom('boom');
  },
});

function make(text, counts) {
  const names = scope(counts);
  return new Function(...Object.keys(names), `return (${text}\n)`)(...Object.values(names));
}

// Whose text decides something while it crosses, or that is no data: what comes back is another value.
const COMPUTED = /get |toJSON|Proxy|class|new (?:String|Number|Boolean|Object)|Object[.(]|counted|\[,|Array\(|Math|JSON|arguments|\/x\//;

const isView = (v) => ArrayBuffer.isView(v) || v instanceof ArrayBuffer;
const bytesOf = (v) => (v instanceof ArrayBuffer ? new Uint8Array(v) : new Uint8Array(v.buffer, v.byteOffset, v.byteLength));
const tag = (v) => Object.prototype.toString.call(v);

/** Whether two values are the same one, down to -0 and the order of members. */
function same(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || tag(a) !== tag(b)) return false;
  if (isView(a)) return Buffer.from(bytesOf(a)).equals(Buffer.from(bytesOf(b)));
  if (a instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (a instanceof Map) return same([...a], [...b]);
  if (a instanceof Set) return same([...a], [...b]);
  if (a instanceof Error && (a.name !== b.name || a.message !== b.message || !same(a.cause, b.cause))) return false;
  const keys = Object.keys(a).filter((k) => k !== 'cause' || !(a instanceof Error)), others = Object.keys(b);
  return keys.length === others.filter((k) => k !== 'cause' || !(b instanceof Error)).length
    && (Array.isArray(a) ? a.length === b.length : true) && keys.every((k) => Object.hasOwn(b, k) && same(a[k], b[k]));
}

/** Each mark points at something in the document. */
function marksPoint(json, marks) {
  if (marks === '') return;
  for (const pointer of Object.keys(JSON.parse(marks))) {
    let at = JSON.parse(json);
    for (const token of pointer.split('/').slice(1)) {
      const key = token.replace(/~1/g, '/').replace(/~0/g, '~');
      assert.ok(typeof at === 'object' && at !== null && Object.hasOwn(at, key), `mark ${pointer} points nowhere`);
      at = at[key];
    }
  }
}

/** A refusal names the place by a path and says what to do; what a getter threw is passed on. */
function isRefusal(e) {
  if (e instanceof Boom || e.message === 'this is not a Date object.') return; // Date.prototype.toJSON of what is no Date
  assert.ok(e instanceof TypeError || e instanceof RangeError, `${e.name}: ${e.message}`);
  assert.match(e.message, /^result\b.* is .+[;,] .{5}/s, `not a refusal: ${e.message}`);
}

export function check(text) {
  const counts = Object.create(null);
  let value, encoded;
  try {
    value = make(text, counts);
  } catch {
    return; // no value is made
  }
  for (const instances of [false, true]) {
    for (const n in counts) counts[n] = 0;
    try {
      encoded = encode(value, 'result', instances, 'return data instead');
    } catch (e) {
      isRefusal(e);
      continue;
    }
    // What stands in two places is asked in both.
    if (!text.includes('const x')) for (const n in counts) assert.ok(counts[n] <= 1, `asked ${counts[n]} times`);
    const { json, marks } = encoded;
    if (json === '') assert.equal(value, undefined);
    if (json === '' || decode(json, marks) === undefined) continue;
    marksPoint(json, marks);
    const back = decode(json, marks), again = encode(back, 'result', false);
    assert.ok(same(back, decode(again.json, again.marks)), 'what came back changes when it crosses again');
    if (!COMPUTED.test(text)) assert.equal(again.json, json, 'what came back is written otherwise');
    // A hole is undefined.
    if (!instances && !COMPUTED.test(text)) assert.ok(same(value, back), `comes back as ${json} ${marks}`);
    assert.ok(same(decode(json, ''), JSON.parse(json)), 'a document without marks is more than a document');
  }
}

const KEYS = ['a', 'b', '"a b"', '"/"', '"~"', '"~1"', '"a/b~0"', '""', '"0"', '"1"', '"$bytes"', '"$map"', '["__proto__"]', '"constructor"', '"toString"', '"\\u2028"', '"é"', '"then"', '"length"', '"name"',
  '"message"', '"cause"', '"stack"'];
const LEAVES = ['null', 'true', 'false', '0', '-0', '1', '-1.5', '1e21', '5e-324', '1.7976931348623157e308', 'NaN', 'Infinity', '-Infinity', '2**53', '0n', '-1n', '2n**64n', '123456789012345678901234567890n', 'undefined',
  "''", "'text'", "'\\u0000'", "'\\ud83d\\ude00'", "'a/b~c'", "'\\u2028\\u2029'", '"{\\"/a\\":\\"map\\"}"', 'new Date(0)', 'new Date(NaN)', 'new Date(8.64e15)', 'new Date(-1)', '[]', '{}', '[[]]', 'new Map()', 'new Set()',
  'new Uint8Array(0)', 'new Uint8Array([0, 255, 128])', 'new Uint8Array(100).subarray(3, 7)', 'new ArrayBuffer(3)', 'new Float64Array([1.5, NaN, -0])', 'new Int16Array([-1, 2])', 'new BigInt64Array([-1n])',
  'new DataView(new ArrayBuffer(4), 1, 2)', 'new Uint8ClampedArray([300])', 'new Float32Array([0.1])', "new Error('x')", "new TypeError('')", "new RangeError('r', { cause: 1 })"];
const ODD = ['() => 1', 'Symbol()', 'Symbol.iterator', 'function f() {}', 'class A {}', 'new (class A { x = 1 })', '/x/g', 'new WeakMap()', 'Promise.resolve(1)', 'globalThis', 'new Proxy({}, {})', 'new Proxy([1, 2], {})',
  'Object.create(null)', 'Object.create({ a: 1 })', 'new String("s")', 'new Number(-0)', 'new Boolean(false)', 'Object(1n)', 'Object(Symbol())', '[, 1]', 'new Array(3)', 'Object.assign([1], { x: 2 })', '(function () { return arguments })(1, 2)',
  'new Date(0).toISOString', 'Math', 'JSON', 'new Proxy(() => 1, {})', '(() => { const a = {}; a.a = a; return a })()', '(() => { const a = []; a.push({ a }); return a })()', '(() => { const m = new Map(); m.set(m, 1); return m })()',
  '(() => { let a = 1; for (let i = 0; i < 600; i++) a = [a]; return a })()', '(() => { let a = 1; for (let i = 0; i < 490; i++) a = { a }; return a })()', 'new Proxy({ a: 1 }, { get: boom })', 'new Proxy({ a: 1 }, { ownKeys: boom })',
  'new Proxy([1], { get: (t, k) => (k === "length" ? counted(0, 2) : t[k]) })', 'new Proxy({}, { getPrototypeOf: () => boom() })', 'new Proxy({}, { getPrototypeOf: () => Date.prototype })', 'new Proxy([], { get: () => 1e9 })',
  'new Proxy([], { get: () => ({ valueOf: boom }) })', 'Object.defineProperty({}, "x", { value: 1 })', 'Object.setPrototypeOf([1, 2], null)', 'Object.setPrototypeOf(new Map([[1, 2]]), null)', 'Object.setPrototypeOf(new Date(0), Array.prototype)',
  'Object.setPrototypeOf({}, Error.prototype)', 'Object.assign(new Error("e"), { name: "N", code: 1n, m: new Map([[1, 2]]) })', 'Object.assign(new Error("e"), { toJSON: () => 1 })', 'Object.defineProperty(new Error("e"), "message", { get: boom })',
  'new AggregateError([new Error("a"), 1], "m")', 'Object.assign(new Date(0), { x: 1 })', 'new (class extends Map {})([[1, 2]])', 'new (class extends Error { name = "Own" })("o")', 'new (class extends Uint8Array {})(2)',
  '(() => { const e = new Error("c"); e.cause = e; return e })()', '(() => { const b = new ArrayBuffer(2); structuredClone(b, { transfer: [b] }); return b })()', 'Object.freeze({ a: Object.freeze([1]) })', '"\\ud800"', '({ "\\udc00": 1 })'];

export function inputs(choose) {
  const { below, chance, pick } = choose;
  let asked = 0; // what is to be asked for once has a number of its own
  const value = (d) => {
    if (d <= 0 || chance(1, 5)) return chance(1, 12) ? pick(ODD).replace('counted(0,', () => `counted(${asked++},`) : pick(LEAVES);
    const v = () => value(d - 1), key = () => pick(KEYS);
    return pick([
      () => `[${choose.list(v, 4).join(', ')}]`, () => `{ ${choose.list(() => `${key()}: ${v()}`, 4).join(', ')} }`, () => `new Map([${choose.list(() => `[${v()}, ${v()}]`, 3).join(', ')}])`,
      () => `new Set([${choose.list(v, 3).join(', ')}])`, () => `Object.assign(new Error('e'), { ${key()}: ${v()} })`, () => `new Error('e', { cause: ${v()} })`,
      () => `{ get ${key()}() { return counted(${asked++}, ${v()}) } }`, () => `{ toJSON(k) { return counted(${asked++}, ${v()}) } }`, () => `new Proxy({ a: ${v()} }, { get: (t, k) => counted('${asked++} ' + k.toString(), t[k]) })`,
      () => `Object.assign(Object.create(null), { ${key()}: ${v()} })`, () => `(() => { const x = ${v()}; return [x, { x }] })()`, () => `new (class A { x = ${v()}; get y() { return 1 } })`,
      () => `new (class A { toJSON() { return ${v()} } })`, () => `[...[${v()}], ${v()}]`,
    ])();
  };
  return () => {
    asked = 0;
    return value(1 + below(5));
  };
}
