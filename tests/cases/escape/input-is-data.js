// tries: marks, prototypes and code by the run's input
// why: it is read like an answer
// expect: [true,"undefined",{"__proto__":{"x":1},"$date":5},"object"]
// input: {"__proto__":{"x":1},"$date":5}
return [Object.getPrototypeOf(input) === Object.prototype, typeof input.x, input, typeof globalThis.input];
