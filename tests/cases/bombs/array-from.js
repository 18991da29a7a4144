// what: Array.from of ever longer lengths
// end: memory_limit
const kept = [];
for (let i = 1;; i++)
    kept.push(Array.from({ length: i * 100 }, (_, k) => k / 3));
