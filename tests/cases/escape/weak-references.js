// tries: learning when garbage is collected, and running code then
// why: weak references and finalisers are not there; a WeakMap tells nothing
// expect: ["undefined","undefined",false]
const w = new WeakMap(), key = {};
w.set(key, 1);
return [typeof WeakRef, typeof FinalizationRegistry, Reflect.ownKeys(globalThis).some((k) => /Weak(Ref)|Finali/.test(String(k)))];
