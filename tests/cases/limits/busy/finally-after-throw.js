// what: finally with a loop, behind an error
// end: cpu_limit
try {
    throw new Error('on the way');
} finally {
    while (1) {}
}
