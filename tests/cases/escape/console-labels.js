// tries: labels of console.count and console.time that are names of the language's objects
// why: they are kept where nothing is inherited
// log: log __proto__: 1
// log: log __proto__: 2
// log: log constructor: 1
// log: log __proto__: 0 ms
// log: warn hasOwnProperty: no such timer; console.time("hasOwnProperty") starts one
// expect: [true,true]
console.count('__proto__');
console.count('__proto__');
console.count('constructor');
console.time('__proto__');
console.timeEnd('__proto__');
console.timeEnd('hasOwnProperty');
return [({}).x === undefined, Object.getPrototypeOf({}) === Object.prototype];
