// what: the error of the limit, caught and built upon
// end: memory_limit|cpu_limit
// why: who catches the error for ever uses CPU time for ever; memory stays at its limit
const kept = [];
for (;;) {
    try {
        for (;;)
            kept.push(new Uint8Array(1 << 16).fill(1));
    } catch {
        kept.push({ again: [kept.length] });
    }
}
