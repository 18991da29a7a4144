// tries: a call while the result is taken, and going on with its answer
// why: the call is sent and recorded like any other; the program ends with its result and never sees the answer
// expect: {"a":1}
// call: svc.late {"x":1}
return { get a() { svc.late({ x: 1 }).then(() => svc.later({})); return 1; } };
