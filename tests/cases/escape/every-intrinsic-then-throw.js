// tries: the report of how a run ended, after the same
// why: as there
// end: threw
// answer: all {"d":5,"m":[[1,2]],"s":[1],"y":"AQ==","e":{"name":"RangeError","message":"m","code":"c"},"g":"5","i":"AQA=","u":null} @ {"/d":"date","/m":"map","/s":"set","/y":"bytes","/e":"error","/g":"bigint","/i":"int16","/u":"undefined"}
// fail: broken {"name":"URIError","message":"m"} @ {"":"error"}
// answer: search [1]
// call: svc.take {"a":[1,"x",null,0,"5"],"d":5,"m":[[1,["s"]]],"b":"AQI=","f":"AAAAAAAA8D8=","e":{"name":"TypeError","message":"t"},"u":null,"o":7,"j":"j","k/~":null} @ {"/a/3":"-0","/a/4":"bigint","/d":"date","/m":"map","/m/0/1":"set","/b":"bytes","/f":"float64","/e":"error","/u":"undefined","/k~1~0":"nan"}
// call: svc.all
// call: search "q"
// call: step s
// call: step ended 5 @ {"":"date"}
// call: svc.broken
// call: step t
// call: step failed {"name":"TypeError","message":"t"} @ {"":"error"}
// call: timer 1
// error: TypeError: t
// log: log x of 5 [
// log:   [ 1, 'x', null, -0, 5n ],
// log:   Map(1) { 1 => Set(1) { 's' } },
// log:   TypeError: t
// log:       at (program.js:51:151),
// log:   Uint8Array(2) [ 1, 2 ],
// log:   /x/g,
// log:   Symbol(s),
// log:   [Function (anonymous)],
// log:   1970-01-01T00:00:00.005Z
// log: ]
// log: log g
// log: log   (index) | a
// log:   0       | 1
// log: log   default: 1
// log: log   default: 0 ms
// log: error   Assertion failed: no
/* What a value is asked for by its own class: the name of an error, and of a class in the log. */
const told = ['name', 'message', 'constructor'];
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, deleteProperty } = Reflect, places = [], seen = new Set(), queue = [globalThis];
Intl;
while (queue.length) {
  const o = queue.pop();
  if ((typeof o !== 'object' && typeof o !== 'function') || o === null || seen.has(o) || o === svc || o === codemode) continue;
  seen.add(o);
  queue.push(getPrototypeOf(o));
  for (const k of ownKeys(o)) {
    const d = getOwnPropertyDescriptor(o, k);
    queue.push(d.value, d.get, d.set);
    if (d.configurable && o !== globalThis && o !== RegExp.prototype && !told.includes(k) && !(o === Promise.prototype && k === 'then')) places.push({ o, k, d });
  }
}
for (const o of [function* () {}, async function* () {}, async () => {}, [][Symbol.iterator](), new Map().entries(), new Set().values(), ''[Symbol.iterator]()])
  for (let p = o; p && !seen.has(p); p = getPrototypeOf(p)) for (const k of ownKeys(p)) if (p !== o && !told.includes(k)) places.push({ o: p, k, d: getOwnPropertyDescriptor(p, k) });
const value = { a: [1, 'x', null, -0, 5n], d: new Date(5), m: new Map([[1, new Set(['s'])]]), b: new Uint8Array([1, 2]), f: new Float64Array([1]), e: new TypeError('t'), u: undefined, o: Object(7), j: { toJSON: () => 'j' }, 'k/~': NaN };
const shown = [value.a, value.m, value.e, value.b, /x/g, Symbol('s'), () => 1, value.d], bytes = new Uint8Array(2), ids = [0, 0];
const Promise_ = Promise, Math_random = Math.random;
let n = 0;
for (const p of places) p.p = { __proto__: null, configurable: true, get() { n++; throw new Error('poison'); }, set() { n++; } };
for (let i = 0; i < places.length; i++) defineProperty(places[i].o, places[i].k, places[i].p);
console.log('%s of %d', 'x', 5, shown);
console.group('g');
console.table([{ a: 1 }]);
console.count();
console.time();
console.timeEnd();
console.assert(false, 'no');
console.groupEnd();
const out = { __proto__: null, answer: await svc.take(value), all: await svc.all(), found: await codemode.search('q'), step: await codemode.step('s', () => value.d), n: 0 };
try { await svc.broken(); } catch (e) { out.broken = e; }
try { await codemode.step('t', () => { throw value.e; }); } catch (e) { out.thrown = e; }
try { await svc.take(() => 1); } catch (e) { out.refused = e; }
await new Promise_((yes) => setTimeout(yes, 1));
queueMicrotask(() => { out.micro = 1; });
crypto.getRandomValues(bytes);
out.random = typeof Math_random() === 'number' && crypto.randomUUID() !== crypto.randomUUID();
await 0;
await 0;
out.n = n;
out.all = null;
throw value.e;
