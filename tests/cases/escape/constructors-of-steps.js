// tries: the same by the recorded form of a step's value
// why: what a step returns is text that the pass's realm reads
// expect: [true,true,false,true]
// call: step make
// call: step ended {"a":[1],"d":7} @ {"/d":"date"}
const made = { a: [1], d: new Date(7) };
const back = await codemode.step('make', () => made);
return [back.constructor.constructor('return this')() === globalThis, back.d instanceof Date, back === made, back.a.constructor === Array];
