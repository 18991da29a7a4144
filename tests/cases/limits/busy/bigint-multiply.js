// what: the square of the square
// end: cpu_limit|memory_limit
let n = 3n;
for (;;) {
    try {
        n *= n;
    } catch {
        n = 3n;
    }
}
