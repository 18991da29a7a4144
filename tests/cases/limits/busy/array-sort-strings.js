// what: sorting texts with long prefixes in common
// end: cpu_limit
const p = 'p'.repeat(10000), a = Array.from({ length: 2000 }, (_, i) => p + (i * 7919 % 2000));
for (;;)
    a.toSorted();
