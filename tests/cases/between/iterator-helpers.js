// leaves: other helpers of iterators
const proto = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
for (const key of Reflect.ownKeys(proto)) {
  try { Object.defineProperty(proto, key, { value: () => 'mine' }); } catch { /* fixed */ }
}
proto.left = 1;
return [][Symbol.iterator]().left;
// ---- next run
// expect: ["undefined",true,[1,2]]
const it = [1, 2][Symbol.iterator]();
return [typeof it.left, it[Symbol.iterator]() === it, [...it]];
