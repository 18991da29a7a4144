// what: arrays whose room is reserved and hardly touched
// end: memory_limit
const kept = [];
for (;;) {
    const a = new Array(50000);
    a[49999] = 1;
    kept.push(a);
}
