// what: helpers of an iterator that never ends
// end: cpu_limit
function* g() {
    for (;;)
        yield 1;
}
return g().filter(() => false).next();
