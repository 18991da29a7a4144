// leaves: objects of ever new shapes, whose descriptions live in a place of their own
globalThis.kept = [];
for (let i = 0; i < 6000; i++) { const o = {}; for (let k = 0; k < 6; k++) o['k' + i + '_' + k] = 1; kept.push(o); }
return kept.length;
// ---- next run
// expect: [6000,"undefined"]
const mine = [];
for (let i = 0; i < 6000; i++) { const o = {}; for (let k = 0; k < 6; k++) o['m' + i + '_' + k] = 1; mine.push(o); }
return [mine.length, typeof kept];
