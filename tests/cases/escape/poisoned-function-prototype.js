// tries: the prelude's calls by Function.prototype.call, apply, bind and Symbol.hasInstance
// why: it calls by the Reflect.apply that it took, and asks instanceof of nothing that decides
// expect: ["first",2,0]
// call: svc.first {"a":1}
// call: timer 1
// call: step s
// call: step ended 2
let n = 0;
for (const k of ['call', 'apply', 'bind', 'toString']) Function.prototype[k] = function () { n++; };
const a = await svc.first({ a: 1 });
await new Promise((yes) => setTimeout(yes, 1));
return [a, await codemode.step('s', () => 2), n];
