// what: many BigInts
// end: memory_limit
const kept = [];
let n = 1n << 20000n;
for (;;)
    kept.push(n += 1n);
