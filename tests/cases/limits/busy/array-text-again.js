// what: the same, again and again, with its errors caught
// end: cpu_limit|memory_limit
for (;;) {
    try {
        String(new Array(1e9));
    } catch {}
}
