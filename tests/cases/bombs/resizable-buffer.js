// what: an ArrayBuffer that grows in place
// end: memory_limit
const kept = [];
for (;;) {
    const b = new ArrayBuffer(1 << 12, { maxByteLength: 4 << 20 });
    for (let n = 1 << 12; n <= 4 << 20; n += 1 << 18) {
        b.resize(n);
        new Uint8Array(b).fill(7);
    }
    kept.push(b);
}
