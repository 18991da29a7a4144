// leaves: a heap of typed arrays, most of the limit; the next one wants small objects
globalThis.kept = Array.from({ length: 48 }, (_, i) => new Uint8Array(1 << 20).fill(i + 1));
return kept.length;
// ---- next run
// expect: [150000,"undefined"]
const mine = [];
for (let i = 0; i < 150000; i++) mine.push({ i, next: [i] });
return [mine.length, typeof kept];
