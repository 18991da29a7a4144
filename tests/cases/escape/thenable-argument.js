// tries: an argument with a then
// why: an argument is data; nobody awaits it, and a function in it has no form
// expect: ["TypeError",0]
let n = 0;
const said = await svc.take({ a: { then() { n++; } } }).catch((e) => e.name);
return [said, n];
