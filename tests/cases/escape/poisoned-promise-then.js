// tries: the host's answers by Promise.prototype.then, catch and finally
// why: await of a native promise asks no method, and the prelude calls none
// expect: ["first",0]
// call: svc.first {}
let n = 0;
for (const k of ['then', 'catch', 'finally']) Promise.prototype[k] = function () { n++; return this; };
return [await svc.first({}), n];
