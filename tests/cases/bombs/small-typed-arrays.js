// what: many small typed arrays, each with a header and a buffer
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    const a = new Uint8Array(64);
    kept.push(a.buffer, a.subarray(1));
}
