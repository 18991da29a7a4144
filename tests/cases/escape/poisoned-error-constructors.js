// tries: the place of calls and the host's failures by Error, TypeError and RangeError
// why: their constructors were taken before; what is made of a failure is a real error
// expect: ["TypeError","Error",true,0]
// call: svc.broken
// fail: broken {"name":"URIError","message":"m"} @ {"":"error"}
let n = 0;
const { isError } = Error, Real = Error;
globalThis.Error = globalThis.TypeError = globalThis.RangeError = function () { n++; return {}; };
globalThis.URIError = function () { return { forged: 1 }; };
Real.isError = () => { n++; return false; };
const a = await svc.take(1, 2).catch((e) => e), b = await svc.broken().catch((e) => e);
return [a.name, Real.prototype.name, isError(b) && b.message === 'm', n];
