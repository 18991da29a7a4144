// what: base64 of a large array
// end: cpu_limit|memory_limit
const b = new Uint8Array(4000000);
for (;;)
    Uint8Array.fromBase64(b.toBase64());
