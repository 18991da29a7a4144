// tries: a call with a hundred thousand arguments, and a log line with as many
// why: a method takes one argument; the call is not sent. A log line is as long as a line may be
// expect: ["TypeError",true,true]
// logs: any
const many = new Array(100000).fill(1);
const e = await svc.take(...many).catch((x) => x);
let logged = true;
try { console.log(...many.slice(0, 50000)); } catch (x) { logged = x instanceof RangeError; }
return [e.name, /got 100000/.test(e.message), logged];
