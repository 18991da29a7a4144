// tries: forging a call, a log line and the result by breaking the language before the web interfaces are made
// why: they break, and nothing else does: what the prelude works with it has from before
// expect: ["TypeError","first",{"k":1}]
// call: svc.first {"a":1}
// log: log { b: 2 } [Object: null prototype] {}
// call: svc.second
// answer: second {"k":1}
Object.defineProperty = Object.entries = Object.getOwnPropertyNames = Array.prototype[Symbol.iterator] = Map.prototype.set = () => { throw new TypeError('broken'); };
let name;
try { new URL('http://a.example'); } catch (e) { name = e.name; }
try { new Headers(); } catch { }
const a = await svc.first({ a: 1 });
console.log({ b: 2 }, Object.create(null));
return [name, a, await svc.second()];
