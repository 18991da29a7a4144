// tries: a step that throws an error which cannot be read, and whose reading throws one that cannot either
// why: the step has failed all the same, and says that much
// expect: "Error: The step threw a value that cannot be recorded"
// call: step s
// call: step failed {"name":"Error","message":"The step threw a value that cannot be recorded"} @ {"":"error"}
const bad = () => { const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw bad(); } }); Object.defineProperty(e, 'more', { enumerable: true, get() { throw bad(); } }); return e; };
return await codemode.step('s', () => { throw bad(); }).catch(String);
