// tries: a step whose function uses up the stack
// why: the step has failed by that error; the run goes on
// expect: ["RangeError",2]
// call: step deep
// call: step failed {"name":"RangeError","message":"Maximum call stack size exceeded."} @ {"":"error"}
// call: step flat
// call: step ended 2
const f = () => f() + 1;
const name = await codemode.step('deep', f).catch((e) => e.name);
return [name, await codemode.step('flat', () => 2)];
