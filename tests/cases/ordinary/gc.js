// Much garbage of many kinds, some of it kept, maps that grow and are emptied.
// expect: [1000,100000,0]
const keep = [];
for (let i = 0; i < 1e6; i++) { const o = { i, pair: [i, i + 1], key: 'k' + i }; if (i % 1000 === 0) keep.push(o); }
const m = new Map();
for (let i = 0; i < 100000; i++) m.set('a' + i, { i });
const size = m.size;
m.clear();
let s = '';
for (let i = 0; i < 20; i++) s = 'x'.repeat(4e6) + i;
return [keep.length, size, m.size];
