// tries: the same by Promise.resolve, reject, all, withResolvers and the global name
// why: the prelude makes promises by the constructor that it took before
// expect: ["first","step",true,0]
// call: svc.first {}
// call: step s
// call: step ended "step"
let n = 0;
for (const k of ['resolve', 'reject', 'all', 'race', 'any', 'allSettled', 'withResolvers', 'try']) Promise[k] = () => { n++; };
const had = Promise;
globalThis.Promise = class { constructor() { n++; } };
const p = svc.first({});
return [await p, await codemode.step('s', () => 'step'), p instanceof had, n];
