// what: Array.from of a length, again and again
// end: cpu_limit|memory_limit
for (;;) {
    try {
        Array.from({ length: 1e9 });
    } catch {}
}
