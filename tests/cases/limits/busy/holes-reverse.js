// what: reverse of holes
// end: cpu_limit|memory_limit
for (;;) {
    try {
        const a = [1];
        a.length = 2 ** 32 - 1;
        a.reverse();
    } catch {}
}
