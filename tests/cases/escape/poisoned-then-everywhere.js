// tries: receiving every answer by a then that all objects inherit
// why: it is the program's own await that asks for it, for a value that is the program's; nothing else is shown to it
// expect: [["x"],"first","caught"]
// call: svc.object
// call: svc.first
// answer: object {"x":1}
const seen = [];
Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { if (typeof this === 'object' && this !== null && !(this instanceof Promise)) seen[seen.length] = Object.keys(this).join(); return undefined; } });
await svc.object();
const a = await svc.first();
delete Object.prototype.then;
return [[...new Set(seen)].filter((s) => s !== ''), a, 'caught'];
