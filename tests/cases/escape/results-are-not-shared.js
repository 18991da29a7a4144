// tries: changing an answer for the next who asks, or an argument after it was sent
// why: each answer is read anew from text, and an argument is text when the call returns
// expect: [{"x":1},{"x":1}]
// call: svc.object {"a":1}
// call: svc.object {"a":2}
// answer: object {"x":1}
const arg = { a: 1 };
const p = svc.object(arg);
arg.a = 2;
const first = await p;
const kept = { ...first };
first.x = 'mine';
return [kept, await svc.object(arg)];
