// tries: a call in every trap of an argument
// why: each is a call of its own, sent before the outer one, with its own answer
// expect: ["outer",["keys","a"]]
// call: svc.keys
// call: svc.a
// call: svc.outer {"a":1}
const inner = [];
const p = new Proxy({ a: 1 }, { ownKeys(t) { inner.push(svc.keys()); return Reflect.ownKeys(t); }, get(t, k) { if (k === 'a') inner.push(svc.a()); return t[k]; } });
const outer = await svc.outer(p);
return [outer, await Promise.all(inner)];
