// leaves: getters and setters under names that a program may use
globalThis.caught = [];
for (const name of ['result', 'data', 'items', 'i', 'x', 'response', 'fresh', 'input', 'left'])
  Object.defineProperty(globalThis, name, { get: () => 'mine', set: (v) => caught.push(v), configurable: false });
x = 1;
return caught;
// ---- next run
// expect: [1,2,3,"undefined","undefined"]
globalThis.result = 1;
globalThis.data = 2;
(0, eval)('var items = 3');
return [result, data, items, typeof caught, typeof input];
