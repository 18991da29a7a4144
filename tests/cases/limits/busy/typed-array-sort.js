// what: sorting a typed array
// end: cpu_limit
const a = new Float64Array(1000000).map(Math.random);
for (;;)
    a.toSorted();
