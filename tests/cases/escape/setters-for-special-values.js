// tries: the same for the values that marks stand for
// why: they are defined in the place of their stand-in
// expect: [5,true,0]
// call: svc.object
// answer: object {"d":5,"u":null,"e":{"name":"Error","message":"m","detail":1}} @ {"/d":"date","/u":"undefined","/e":"error"}
let n = 0;
const keys = ['d', 'u', 'e', 'detail', 'stack', 'cause', 'errors', 'writable', 'enumerable', 'value'];
for (const k of keys) Object.defineProperty(Object.prototype, k, { __proto__: null, configurable: true, set() { n++; }, get() { n++; } });
const v = await svc.object();
const seen = n;
for (const k of keys) delete Object.prototype[k];
return [v.d.getTime(), 'u' in v && v.e.detail === 1, seen];
