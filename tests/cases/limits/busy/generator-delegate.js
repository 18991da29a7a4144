// what: generators that hand on to generators
// end: cpu_limit
function* g(n) {
    if (n)
        yield* g(n - 1);
    for (;;)
        yield n;
}
for (const x of g(500));
