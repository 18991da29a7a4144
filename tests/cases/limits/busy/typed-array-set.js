// what: copying typed arrays
// end: cpu_limit
const a = new Uint8Array(20000000), b = new Uint8Array(20000000);
for (;;)
    a.set(b);
