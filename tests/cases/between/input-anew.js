// leaves: another value under the name of the input
globalThis.input = { a: 'mine' };
Object.prototype.b = 'mine';
return input.a;
// ---- next run
// input: {"a":1}
// expect: [{"a":1},"undefined"]
return [input, typeof input.b];
