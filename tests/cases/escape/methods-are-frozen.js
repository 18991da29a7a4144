// tries: leaving a call or apply of its own on a connector's function
// why: each function is frozen and the same at every reading
// expect: [true,true,"undefined","first"]
// call: svc.first
const f = svc.first;
f.apply = () => 'mine';
f.extra = 1;
return [Object.isFrozen(f), f === svc.first, typeof f.extra, await f()];
