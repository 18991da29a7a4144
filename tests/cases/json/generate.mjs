// Writes numbers.tsv and canonical.tsv beside itself, with Node as the oracle: `node tests/cases/json/generate.mjs`.
// numbers.tsv: the bits of a double in hex, and Number.prototype.toString of it.
// canonical.tsv: a JSON text, and the same in the canonical form of RFC 8785. A tab cannot occur in either.
import { writeFileSync } from 'node:fs';

let state = 20240229n;
const random = () => {
  // SplitMix64, so that every run writes the same files.
  state = (state + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
  let z = state;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
  return z ^ (z >> 31n);
};
const below = (n) => Number(random() % BigInt(n));

const view = new DataView(new ArrayBuffer(8));
const bits = (d) => (view.setFloat64(0, d), view.getBigUint64(0).toString(16).padStart(16, '0'));
const fromBits = (b) => (view.setBigUint64(0, b), view.getFloat64(0));

const numbers = new Set();
const addNumber = (d) => Number.isFinite(d) && numbers.add(`${bits(d)}\t${String(d)}`);
for (const d of [0, -0, 1, -1, 0.1, 1.5, 5e-324, 1.7976931348623157e308, 2 ** 53, 2 ** 53 - 1, 2 ** 53 + 2, 2 ** 63, 2 ** 64,
  1e20, 1e21, 1e22, 123e20, 1e-6, 1e-7, 1.5e-7, 0.000001234, 9.5367431640625e-7, 333333333.33333329, 1e23, 295147905179352830000])
  addNumber(d), addNumber(-d);
for (let e = -1074; e < 1024; e += 3) addNumber(2 ** e);
for (let e = -320; e < 309; e++) addNumber(Number(`1e${e}`)), addNumber(Number(`${below(1e9)}e${e}`));
for (let i = 0; i < 2000; i++) addNumber(fromBits(random()));
for (let i = 0; i < 500; i++) addNumber(below(2 ** 53) / 10 ** below(12));
writeFileSync(new URL('numbers.tsv', import.meta.url), [...numbers].join('\n') + '\n');

const canonical = (v) => {
  if (Array.isArray(v)) return `[${v.map(canonical).join(',')}]`;
  if (v === null || typeof v !== 'object') return JSON.stringify(v);
  return `{${Object.keys(v).sort().map((k) => `${JSON.stringify(k)}:${canonical(v[k])}`).join(',')}}`;
};
const letters = ['a', 'b', 'Z', '0', '1', '10', '', '_', '~', '/', '"', '\\', '\u0000', '\u001f', '\u007f', '\n', 'é', '€', '\u2028',
  '\ufb33', '\uffff', '\ue000', '😂', '𐀀', '\u{10ffff}', '__proto', 'ab'];
const word = () => Array.from({ length: below(4) }, () => letters[below(letters.length)]).join('');
const make = (depth) => {
  const n = below(depth > 3 ? 5 : 7);
  if (n === 0) return word();
  if (n === 1) return fromBits(random()) || 0;
  if (n === 2) return below(1e6) - 5e5;
  if (n === 3) return [true, false, null][below(3)];
  if (n === 4) return below(1000) / 8;
  if (n === 5) return Array.from({ length: below(5) }, () => make(depth + 1));
  return Object.fromEntries(Array.from({ length: below(24) }, () => [word(), make(depth + 1)]));
};
const texts = ['{"\\u20ac":"Euro","\\r":"CR","\\ufb33":"Hebrew","1":"One","\\ud83d\\ude00":"Emoji","\\u0080":"Control","\\u00f6":"o"}',
  '[ 56.0, {"d":true, "10":null, "1":[ ]} ]', '{"a":{"b":[1.0,1e2,-0.0,-0]}}', '[9007199254740993, 18446744073709551616, 1e400]'
    .replace(', 1e400', ''), '"\\/\\b\\f\\n\\r\\t\\u0001\\u001F\\"\\\\"'];
for (let i = 0; i < 200; i++) texts.push(JSON.stringify(make(0)));
writeFileSync(new URL('canonical.tsv', import.meta.url), texts.map((t) => `${t}\t${canonical(JSON.parse(t))}\n`).join(''));
