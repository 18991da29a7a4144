// tries: a prototype by an answer with __proto__ among its keys
// why: it is read as a member of its own, and changes no prototype
// expect: [true,true,"undefined",["__proto__","constructor"],{"__proto__":{"evil":1}}]
// answer: json {"__proto__":{"evil":1},"constructor":{"prototype":{"evil":2}}}
// call: svc.json
// call: svc.back {"__proto__":{"evil":1},"constructor":{"prototype":{"evil":2}}}
const v = await svc.json();
await svc.back(v);
return [Object.getPrototypeOf(v) === Object.prototype, Object.hasOwn(v, '__proto__'), typeof v.evil, Object.keys(v), JSON.parse('{"__proto__":{"evil":1}}')];
