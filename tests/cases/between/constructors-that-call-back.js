// leaves: subclasses whose constructors would see what the engine makes
globalThis.seen = [];
class Spy extends Promise { constructor(f) { super(f); seen.push('promise'); } static get [Symbol.species]() { return Spy; } }
Promise.prototype.constructor = Spy;
globalThis.Promise = Spy;
class SpyArray extends Array { constructor(...a) { super(...a); seen.push('array'); } }
Array.prototype.constructor = SpyArray;
await svc.one({});
[1].map((x) => x);
return seen.length > 0;
// ---- next run
// expect: ["undefined",true,true]
const p = svc.one({});
await p;
return [typeof seen, p.constructor === Promise, [1].map((x) => x).constructor === Array];
