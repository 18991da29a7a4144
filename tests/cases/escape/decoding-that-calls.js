// tries: a call, and an answer to it, from inside the making of another answer
// why: the inner call is a call like any other; answers come one at a time
// expect: ["object","first"]
// call: svc.ints
// call: svc.first
// answer: ints "AQA=" @ {"":"int16"}
let inner;
globalThis.Int16Array = function () { inner = svc.first(); return {}; };
const v = await svc.ints();
return [typeof v, await inner];
