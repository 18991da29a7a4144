// tries: an exception in the middle of reading an argument
// why: the call is not sent; what was thrown rejects its promise
// expect: ["mine","take"]
// call: svc.take {"ok":1}
const said = await svc.take({ a: 1, get b() { throw 'mine'; } }).catch((e) => e);
return [said, await svc.take({ ok: 1 })];
