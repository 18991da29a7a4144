// what: keys of a large object
// end: cpu_limit
const o = {};
for (let i = 0; i < 30000; i++)
    o['k' + i] = i;
for (;;)
    Object.entries(o);
