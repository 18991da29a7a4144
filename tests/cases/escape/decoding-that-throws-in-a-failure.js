// tries: the same where a failure is made
// why: as before
// expect: ["mine","first"]
// call: svc.broken
// call: svc.first
// fail: broken {"name":"SyntaxError","message":"m"} @ {"":"error"}
globalThis.SyntaxError = function () { throw 'mine'; };
const said = await svc.broken().catch((e) => e);
return [said, await svc.first()];
