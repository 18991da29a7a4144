// tries: symbols as members of arguments, of answers and of the registry that all realms of a VM share
// why: a symbol has no form outside and is no name of a method; the registry gives symbols, which hold nothing
// expect: ["undefined","take","TypeError",[]]
// call: svc.take {"a":1}
const s = Symbol.for('codemode.send');
const said = await svc.take({ a: 1, [s]: 2 });
return [typeof svc[s], said, await svc.take({ a: s }).catch((e) => e.name), Object.getOwnPropertySymbols(globalThis).filter((x) => Symbol.keyFor(x))];
