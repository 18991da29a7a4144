// leaves: other methods of Map, Set, WeakMap and WeakSet
for (const C of [Map, Set, WeakMap, WeakSet]) {
  for (const name of Object.getOwnPropertyNames(C.prototype)) {
    if (name !== 'constructor' && name !== 'size')
      C.prototype[name] = () => 'mine';
  }
}
Map.groupBy = () => 'mine';
return new Map().get(1);
// ---- next run
// expect: [2,true,3,1,[[1,2]]]
const m = new Map([[1, 2]]), o = {};
return [m.get(1), new Set([1]).has(1), new WeakMap([[o, 3]]).get(o), m.size, [...m]];
