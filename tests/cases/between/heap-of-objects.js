// leaves: a heap of small objects, half as large as the limit; the next one wants typed arrays
globalThis.kept = [];
for (let i = 0; i < 100000; i++) kept.push({ i, next: [i] });
return kept.length;
// ---- next run
// expect: [28,"undefined"]
const mine = Array.from({ length: 28 }, (_, i) => new Uint8Array(1 << 20).fill(i + 1));
return [mine.filter((a, i) => a[(1 << 20) - 1] === i + 1).length, typeof kept];
