// tries: leaving the program's scope by the Function constructor
// why: it gives the pass's own global object, which has nothing to offer
// expect: [true,"undefined","undefined","undefined"]
const g = Function('return this')();
return [g === globalThis, typeof g.process, typeof g.require, typeof g.module];
