// what: typed arrays, filled
// end: memory_limit
const kept = [];
for (;;)
    kept.push(new Float64Array(1 << 16).fill(1.5));
