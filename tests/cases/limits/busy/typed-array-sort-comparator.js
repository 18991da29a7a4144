// what: sorting a typed array with a comparator
// end: cpu_limit
const a = new Uint32Array(100000);
for (;;)
    a.sort((x, y) => y - x || 1);
