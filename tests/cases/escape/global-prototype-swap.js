// tries: putting a proxy behind the global object, so that every global name that the prelude lacks asks the program
// why: the prelude looks up no global while a program runs; the names that came are the program's own
// expect: ["first",[]]
// call: svc.first {"m":[[1,2]],"e":{"name":"Error","message":"x"}} @ {"/m":"map","/e":"error"}
// log: log Map(1) { 1 => 2 }
const asked = [];
const had = Object.getPrototypeOf(globalThis);
const ok = Reflect.setPrototypeOf(globalThis, new Proxy(had, { get(t, k, r) { asked.push(String(k)); return Reflect.get(t, k, r); }, has(t, k) { asked.push(String(k)); return k in t; } }));
const arg = { m: new Map([[1, 2]]), e: new Error('x') };
if (ok) asked.length = 0;
console.log(arg.m);
const a = await svc.first(arg);
return [a, asked.filter((k) => !['svc', 'console', 'Map', 'Error', 'asked'].includes(k))];
