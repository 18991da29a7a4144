// tries: another realm's Function by way of the constructors of what the host answers
// why: every answer is made in the pass's own realm
// expect: [true,true,true,true,true,true,true,true,true,true]
// answer: all {"o":{"x":1},"a":[1],"s":"t","n":1,"b":true,"d":5,"m":[[1,2]],"e":{"name":"TypeError","message":"m"},"y":"AAEC","g":"12"} @ {"/b":"undefined","/d":"date","/e":"error","/g":"bigint","/m":"map","/y":"bytes"}
// call: svc.all
const v = await svc.all();
const own = (x) => x.constructor.constructor('return this')() === globalThis;
return [own(v), own(v.o), own(v.a), own(v.s), own(v.n), own(v.d), own(v.m), own(v.e), own(v.y), own(v.g)];
