// what: the decimal text of a large BigInt
// end: cpu_limit|memory_limit
const n = 7n ** 300000n;
for (;;)
    n.toString();
