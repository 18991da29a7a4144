// what: a Map that grows while it is walked
// end: cpu_limit|memory_limit
const m = new Map([[0, 0]]);
for (const [k] of m)
    m.delete(k), m.set(k + 1, 0);
