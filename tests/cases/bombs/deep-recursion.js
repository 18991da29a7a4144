// what: recursion with large frames, whose error is caught and its work kept
// end: memory_limit
const kept = [];
function deep(a, b, c, d, e, f, g, h) {
    const local = [a, b, c, d, e, f, g, h];
    kept.push(local);
    return deep(b, c, d, e, f, g, h, a) + local.length;
}
for (;;) {
    try { deep(1, 2.5, 'c', 4, 5.5, 'f', 7, 8); } catch {}
}
