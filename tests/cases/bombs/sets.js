// what: a Set without end
// end: memory_limit
const s = new Set();
for (let i = 0;; i++)
    s.add(i + 0.5);
