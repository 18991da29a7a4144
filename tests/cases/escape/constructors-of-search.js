// tries: the same by what search and describe answer
// why: these answers are data of the pass's realm too
// expect: [true,true,[1,{"path":"svc.x"}]]
// answer: search [1,{"path":"svc.x"}]
// answer: describe {"type":"declare"}
// call: search "find"
// call: describe "svc.x"
const own = (x) => x.constructor.constructor('return this')() === globalThis;
const found = await codemode.search('find'), told = await codemode.describe('svc.x');
return [own(found), own(told), found];
