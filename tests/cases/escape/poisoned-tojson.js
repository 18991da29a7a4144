// tries: changing what crosses by a toJSON that every object, text and number inherits
// why: toJSON is asked once of objects, as JSON.stringify does, and what it says is the program's own data; keys and marks are not asked
// expect: ["first",1]
// call: svc.first {"seen":"arg"}
let n = 0;
Object.defineProperty(Object.prototype, 'toJSON', { configurable: true, value() { n++; return { seen: 'arg' }; } });
String.prototype.toJSON = Number.prototype.toJSON = Array.prototype.toJSON = () => { n += 100; return 'forged'; };
const a = await svc.first({ a: 1 });
delete Object.prototype.toJSON;
delete Array.prototype.toJSON;
return [a, n];
