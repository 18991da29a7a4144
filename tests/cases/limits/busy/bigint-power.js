// what: powers of a BigInt
// end: cpu_limit|memory_limit
for (let n = 3n; ; n++) {
    try {
        n ** 300000n;
    } catch {}
}
