// tries: the prelude's own definitions by Reflect and Object
// why: what it uses of both was taken before
// expect: ["first","TypeError",0]
// call: svc.first {"a":{"b":null}}
// fail: broken {"name":"TypeError","message":"m","extra":1} @ {"":"error"}
// call: svc.broken
// log: log { a: 1 } [Function: f]
let n = 0;
const { defineProperty } = Reflect, names = [[Reflect, Reflect.ownKeys(Reflect)], [Object, Reflect.ownKeys(Object)]];
for (const [o, keys] of names) for (const k of keys) if (typeof o[k] === 'function') defineProperty(o, k, { value: () => { n++; throw new Error(String(k)); }, configurable: true });
const keep = n;
console.log({ a: 1 }, function f() {});
const a = await svc.first({ a: { b: null } }), b = await svc.broken().catch((e) => e.name);
return [a, b, n - keep];
