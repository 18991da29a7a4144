// tries: another realm's Function by way of the functions that reach the host
// why: they are of the pass's own realm, so their constructors lead nowhere else
// expect: [true,true,true,true,true,true]
return [console.log, codemode.search, codemode.step, svc.anything, setTimeout, fetch].map((f) => f.constructor('return this')() === globalThis);
