// leaves: a heap of small objects, half as large as the limit; the next one wants typed arrays
globalThis.kept = [];
for (let i = 0; i < 150000; i++) kept.push({ i, next: [i] });
return kept.length;
// ---- next run
// expect: [48,"undefined"]
const mine = Array.from({ length: 48 }, (_, i) => new Uint8Array(1 << 20).fill(i + 1));
return [mine.filter((a, i) => a[(1 << 20) - 1] === i + 1).length, typeof kept];
