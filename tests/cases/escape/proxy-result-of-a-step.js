// tries: a step's value that changes at each reading
// why: it is read once; the program gets the recorded form, as a replay does
// expect: [{"n":1},{"n":1},1]
// call: step count
// call: step ended {"n":1}
let n = 0;
const v = await codemode.step('count', () => ({ get n() { return ++n; } }));
return [v, v, n];
