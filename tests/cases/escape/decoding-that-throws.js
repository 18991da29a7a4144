// tries: ending the worker's own delivery, by a class that throws where an answer is made
// why: the call has failed by that error, and the worker goes on
// expect: ["mine","first"]
// call: svc.ints
// call: svc.first
// answer: ints "AQA=" @ {"":"int16"}
globalThis.Int16Array = function () { throw 'mine'; };
const said = await svc.ints().catch((e) => e);
return [said, await svc.first()];
