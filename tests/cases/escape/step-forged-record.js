// tries: recording something else under a step by calling its function again, or by answering for it
// why: the host records what the step's frame says, once; a second call of the function is just a call
// expect: ["a",2]
// call: step s
// call: step ended "a"
let n = 0;
const fn = () => { n++; return n === 1 ? 'a' : 'b'; };
const v = await codemode.step('s', fn);
fn();
return [v, n];
