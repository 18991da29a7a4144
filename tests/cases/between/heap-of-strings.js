// leaves: long and short strings, also as names of properties, which the engine keeps in one table
globalThis.kept = Array.from({ length: 8 }, (_, i) => String(i % 10).repeat(1 << 20));
const names = {};
for (let i = 0; i < 5000; i++) names['left' + i] = Symbol.for('left' + i);
globalThis.names = names;
return kept.length;
// ---- next run
// expect: [28,"undefined",5000]
const mine = Array.from({ length: 28 }, (_, i) => String(i % 10).repeat(1 << 20));
const names = {};
for (let i = 0; i < 5000; i++) names['mine' + i] = 1;
return [mine.length, typeof kept, Object.keys(names).length];
