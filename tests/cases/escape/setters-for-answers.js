// tries: catching members of an answer by setters of Object.prototype
// why: an answer's members are made as its own, which asks no setter
// expect: [{"id":1,"name":"n","value":[2],"json":"j"},0]
// call: svc.object
// answer: object {"id":1,"name":"n","value":[2],"json":"j"}
let n = 0;
for (const k of ['id', 'name', 'value', 'json']) Object.defineProperty(Object.prototype, k, { configurable: true, set() { n++; }, get() { n++; } });
const v = await svc.object();
for (const k of ['id', 'name', 'value', 'json']) delete Object.prototype[k];
return [v, n];
