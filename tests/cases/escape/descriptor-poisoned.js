// tries: answering for the fields of property descriptors, which inherit from the program's Object.prototype
// why: own fields alone are read, and descriptors of ours inherit nothing
// expect: ["Error","x",0,"function"]
// call: step s
// call: step failed {"name":"Error","message":"x"} @ {"":"error"}
// log: log [Function (anonymous)]
let n = 0;
const fn = Object.defineProperty(() => 1, 'name', { get() { return 'named'; } });
const e = Object.defineProperty(new Error('x'), 'stack', { get() { n += 100; return 'program.js:1:1'; } });
for (const k of ['value', 'get', 'set', 'writable', 'enumerable', 'configurable']) Object.defineProperty(Object.prototype, k, { __proto__: null, configurable: true, get() { n++; return undefined; } });
console.log(fn);
const back = await codemode.step('s', () => { throw e; }).catch((x) => x);
const seen = n;
for (const k of ['value', 'get', 'set', 'writable', 'enumerable', 'configurable']) delete Object.prototype[k];
return [back.name, back.message, seen, typeof svc.first];
