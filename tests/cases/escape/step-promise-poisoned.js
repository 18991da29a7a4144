// tries: ending a step twice by a promise class of its own
// why: a step is recorded once
// expect: [1,"undefined"]
// call: step s
// call: step ended 1
class Mine extends Promise { then(yes, no) { yes(1); yes(2); return super.then(yes, no); } }
return [await codemode.step('s', () => Mine.resolve(5)), typeof extra];
