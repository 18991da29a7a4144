// what: padded strings
// end: memory_limit
const kept = [];
for (let i = 0;; i++)
    kept.push(String(i).padStart(100000, 'ab'));
