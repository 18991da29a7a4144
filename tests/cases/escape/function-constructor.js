// why: the Function constructor gives the pass's own global object, which has nothing to offer
// expect: [true,"undefined","undefined","undefined"]
const g = Function('return this')();
return [g === globalThis, typeof g.process, typeof g.require, typeof g.module];
