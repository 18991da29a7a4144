// tries: another realm by the input that the host gave
// why: it is read in the pass's realm
// expect: [true,true,{"a":[1]}]
// input: {"a":[1]}
const own = (x) => x.constructor.constructor('return this')() === globalThis;
return [own(input), own(input.a), input];
