// tries: an error that says something else when it is read again
// why: each field is read once
// end: threw
// error: N1: M1
// code: C1
let n = 0, m = 0, c = 0;
throw Object.defineProperties(new Error('x'), { name: { get: () => 'N' + ++n }, message: { get: () => 'M' + ++m }, code: { get: () => 'C' + ++c } });
