// leaves: a heap at its limit, and an error about it that was caught
// end: memory_limit|completed
const kept = [];
try { for (;;) kept.push(new Uint8Array(1 << 20).fill(1)); } catch (e) { globalThis.left = String(e); }
return 1;
// ---- next run
// expect: [28,"undefined"]
const mine = Array.from({ length: 28 }, (_, i) => new Uint8Array(1 << 20).fill(i + 1));
return [mine.length, typeof left];
