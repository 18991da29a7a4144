// tries: the same by the errors of calls, the host's and the prelude's own
// why: they are made in the pass's realm as well
// expect: [true,true,"Error",true,true,true]
// fail: broken {"message":"no","name":"Error"} @ {"":"error"}
// call: svc.broken
const own = (x) => x.constructor.constructor('return this')() === globalThis;
const a = await svc.broken().catch((e) => e), b = await svc.take(1, 2).catch((e) => e), c = await svc.take(() => 1).catch((e) => e);
return [own(a), a instanceof Error, a.name, own(b), own(c), b instanceof TypeError];
