// leaves: other functions on Object and Reflect
for (const from of [Object, Reflect]) {
  for (const name of Object.getOwnPropertyNames(from)) {
    if (typeof from[name] === 'function')
      try { from[name] = () => 'mine'; } catch { /* read-only */ }
  }
}
return 1;
// ---- next run
// expect: [["a"],[["a",1]],{"a":1},["a"],true]
const o = { a: 1 };
return [Object.keys(o), Object.entries(o), Object.assign({}, o), Reflect.ownKeys(o), Object.is(NaN, NaN)];
