// leaves: a heap of typed arrays, half as large as the limit
globalThis.kept = Array.from({ length: 28 }, (_, i) => new Uint8Array(1 << 20).fill(i + 1));
return kept.length;
// ---- next run
// expect: [28,"undefined"]
const mine = Array.from({ length: 28 }, (_, i) => new Uint8Array(1 << 20).fill(i + 1));
return [mine.filter((a, i) => a[(1 << 20) - 1] === i + 1).length, typeof kept];
