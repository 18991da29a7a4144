// tries: taking away what the prelude works with
// why: it has all of it from before
// expect: ["first",[1,"two"],true]
// call: svc.first {"when":5} @ {"/when":"date"}
// log: log still { a: 1 }
const keep = { Date, Object };
for (const name of Object.getOwnPropertyNames(globalThis)) if (!['svc', 'codemode', 'console', 'globalThis', 'NaN', 'Infinity', 'undefined'].includes(name)) delete globalThis[name];
console.log('still', { a: 1 });
return [await svc.first({ when: new keep.Date(5) }), [1, 'two'], typeof JSON === 'undefined'];
