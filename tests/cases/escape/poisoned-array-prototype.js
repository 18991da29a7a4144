// tries: reading or changing what crosses by every method of arrays, and by setters for their elements
// why: the prelude calls no method of an array and appends to none
// expect: ["first",["x"],[]]
// call: svc.first {"a":[1,{"b":[2,3]}]}
// call: svc.list
// answer: list ["x"]
// log: log [ 1, [ 2 ] ] { a: [ 3 ] }
const seen = [], own = Object.getOwnPropertyNames(Array.prototype), keep = {};
for (const k of own) if (typeof Array.prototype[k] === 'function' && k !== 'constructor') { keep[k] = Array.prototype[k]; Array.prototype[k] = function () { seen[seen.length] = k; return this; }; }
for (let i = 0; i < 4; i++) Object.defineProperty(Array.prototype, i, { configurable: true, set() { keep.set = i; }, get() { keep.get = i; } });
console.log([1, [2]], { a: [3] });
const a = await svc.first({ a: [1, { b: [2, 3] }] }), b = await svc.list();
for (let i = 0; i < 4; i++) delete Array.prototype[i];
for (const k in keep) if (typeof keep[k] === 'function') Array.prototype[k] = keep[k];
const touched = 'set' in keep && typeof keep.set === 'number';
return touched ? 'touched' : [a, b, seen];
