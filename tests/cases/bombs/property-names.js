// what: one object with ever more names
// end: memory_limit
const o = {};
for (let i = 0;; i++)
    o[i + 'x'] = i;
