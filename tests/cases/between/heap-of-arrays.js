// leaves: a heap of typed arrays, half as large as the limit; the next one wants small objects
globalThis.kept = Array.from({ length: 28 }, (_, i) => new Uint8Array(1 << 20).fill(i + 1));
return kept.length;
// ---- next run
// expect: [100000,"undefined"]
const mine = [];
for (let i = 0; i < 100000; i++) mine.push({ i, next: [i] });
return [mine.length, typeof kept];
