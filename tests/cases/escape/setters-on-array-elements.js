// tries: catching the arguments of calls by setters for the elements of arrays, set while a call's arguments are made
// why: lists of ours are written as literals, which ask no setter
// expect: ["first",0]
// call: svc.first {"a":"b"}
// log: log x { y: 1 }
let n = 0;
for (let i = 0; i < 8; i++) Object.defineProperty(Array.prototype, i, { configurable: true, set() { n++; }, get() { n++; } });
for (const k of ['0', '1']) Object.defineProperty(Object.prototype, k, { __proto__: null, configurable: true, set() { n++; }, get() { n++; } });
const p = svc.first({ a: 'b' });
console.log('x', { y: 1 });
const a = await p, seen = n;
for (let i = 0; i < 8; i++) delete Array.prototype[i];
for (const k of ['0', '1']) delete Object.prototype[k];
return [a, seen];
