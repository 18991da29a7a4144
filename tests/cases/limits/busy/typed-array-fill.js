// what: filling a typed array
// end: cpu_limit
const a = new Uint8Array(30000000);
for (let i = 0; ; i++)
    a.fill(i);
