// what: division of large BigInts
// end: cpu_limit
const n = 7n ** 100000n, d = 3n ** 60000n;
for (;;)
    n / d;
