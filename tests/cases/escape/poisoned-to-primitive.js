// tries: running code where the prelude turns a value into text: Symbol.toPrimitive, toString and valueOf of every object
// why: it turns only texts and numbers into text; of an object it asks nothing
// expect: ["first",0]
// call: svc.first {"a":{"b":1}}
// log: log { a: 1 }
let n = 0;
Object.defineProperty(Object.prototype, Symbol.toPrimitive, { configurable: true, get() { n++; return undefined; } });
Object.prototype.toString = Object.prototype.valueOf = () => { n++; return ''; };
Number.prototype.toString = Number.prototype.valueOf = Boolean.prototype.valueOf = BigInt.prototype.toString = () => { n++; return ''; };
console.log({ a: 1 });
return [await svc.first({ a: { b: 1 } }), n];
