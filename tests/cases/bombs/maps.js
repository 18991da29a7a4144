// what: a Map without end
// end: memory_limit
const m = new Map();
for (let i = 0;; i++)
    m.set(i, 'v' + i);
