// tries: a call inside the reading of another call's argument
// why: calls are numbered when they are sent; the inner one is sent first, and both get their own answer
// expect: ["outer","inner"]
// call: svc.inner {"x":1}
// call: svc.outer {"a":{"b":2}}
let inner;
const outer = await svc.outer({ get a() { inner = svc.inner({ x: 1 }); return { b: 2 }; } });
return [outer, await inner];
