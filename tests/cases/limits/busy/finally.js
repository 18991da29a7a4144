// what: finally with a loop, at the end of an endless try
// end: cpu_limit
try {
    for (;;);
} finally {
    for (;;);
}
