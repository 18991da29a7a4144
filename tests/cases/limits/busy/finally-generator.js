// what: the finally of a generator that is left
// end: cpu_limit
function* g() {
    try {
        yield 1;
    } finally {
        for (;;);
    }
}
for (const x of g())
    break;
