// what: long strings, each its own
// end: memory_limit
const kept = [];
for (let i = 0;; i++)
    kept.push(String(i).repeat(10000));
