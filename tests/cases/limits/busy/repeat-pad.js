// what: chains of repeat and padEnd
// end: cpu_limit|memory_limit
for (;;) {
    try {
        'x'.repeat(2 ** 29).padEnd(2 ** 30, 'yz').indexOf('no');
    } catch {}
}
