// what: arrays of doubles
// end: memory_limit
const kept = [];
for (;;)
    kept.push(new Array(1000).fill(0.5));
