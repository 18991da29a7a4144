// tries: another codemode, svc, NaN or undefined for all code of the realm, by declarations at the top level of a text
// why: a declared function needs a global that can be configured, a var over one that cannot be written changes nothing, and a let is
//      the text's own
// expect: ["TypeError","TypeError","TypeError","done","done","done","done","first"]
// call: svc.first {"n":null,"m":[[1,2]]} @ {"/n":"nan","/m":"map"}
// log: log Map(1) { 1 => 2 }
const m = new Map([[1, 2]]);
const said = ['function codemode() {}', 'function svc() {}', 'function NaN() {}', 'var svc = 1, codemode = 2, undefined = 3', 'let svc = 1', 'class Infinity {}',
  'var Map = 1, JSON = 2, Reflect = 3, WeakMap = 4, console2 = 5'].map((text) => {
  try { (0, eval)(text); return 'done'; } catch (e) { return e.name; }
});
console.log(m);
return [...said, await svc.first({ n: NaN, m })];
