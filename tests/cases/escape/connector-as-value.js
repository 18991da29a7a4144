// tries: sending a connector or its methods through a call, a step or the result
// why: neither has a form outside
// end: threw
// error: TypeError: result is a connector
// log: log TypeError TypeError
// call: step s
// call: step failed {"name":"TypeError","message":"step result is a connector; call one of its methods and use what it returns"} @ {"":"error"}
console.log(await svc.take(svc).catch((e) => e.name), await svc.take({ f: svc.first }).catch((e) => e.name));
await codemode.step('s', () => svc).catch(() => 1);
return svc;
