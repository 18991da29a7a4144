// tries: the arguments of calls and the lines of the log by Array.prototype[Symbol.iterator]
// why: the prelude iterates nothing
// expect: ["first",0]
// call: svc.first {"a":[1,2]}
// log: warn a [ 1, 2 ]
let n = 0;
Array.prototype[Symbol.iterator] = function () { n++; return { next: () => ({ done: true }) }; };
Object.getPrototypeOf([].values()).next = () => { n++; return { done: true }; };
console.warn('a', [1, 2]);
const a = await svc.first({ a: [1, 2] });
return [a, n];
