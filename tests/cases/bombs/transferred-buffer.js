// what: an ArrayBuffer that moves into a larger one
// end: memory_limit
let b = new ArrayBuffer(1 << 16);
for (;;) {
    b = b.transfer(b.byteLength * 2);
    new Uint8Array(b).fill(1);
}
