// leaves: setters and getters for the elements of every array, which change how the engine keeps arrays
globalThis.caught = [];
for (let i = 0; i < 8; i++)
  Object.defineProperty(Array.prototype, i, { get: () => 'mine', set(v) { caught[99] = v; }, configurable: false });
const a = [];
a[0] = 1;
return a[0];
// ---- next run
// expect: [[1,2],[null,null],1,[0,1,2]]
const a = [];
a[0] = 1;
a.push(2);
return [a, new Array(2), [1][0], Array.from({ length: 3 }, (_, i) => i)];
