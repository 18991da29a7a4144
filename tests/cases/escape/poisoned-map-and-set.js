// tries: the entries of maps and sets that cross by forEach, size, set, add and the iterators
// why: forEach, set, add and the getters of size were taken before
// expect: ["first",1,2,0]
// call: svc.first {"m":[[1,"a"]],"s":["b"]} @ {"/m":"map","/s":"set"}
// call: svc.map
// answer: map {"m":[[1,2]],"s":[1,2]} @ {"/m":"map","/s":"set"}
// log: log Map(1) { 1 => 'a' } Set(1) { 'b' }
let n = 0;
const { get } = Map.prototype, size = Object.getOwnPropertyDescriptor(Set.prototype, 'size').get, m = new Map([[1, 'a']]), s = new Set(['b']);
for (const C of [Map, Set]) {
  for (const k of ['forEach', 'set', 'add', 'get', 'has', 'entries', 'values', 'keys', Symbol.iterator]) C.prototype[k] = () => { n++; };
  Object.defineProperty(C.prototype, 'size', { get() { n++; return 99; } });
}
globalThis.Map = globalThis.Set = function () { n++; };
console.log(m, s);
const a = await svc.first({ m, s }), b = await svc.map();
return [a, get.call(b.m, 1) - 1, size.call(b.s), n];
