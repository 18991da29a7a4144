// what: slices of a buffer
// end: cpu_limit|memory_limit
const b = new ArrayBuffer(20000000);
for (;;)
    b.slice(0);
