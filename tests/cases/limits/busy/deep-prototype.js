// what: a property looked for along a long chain
// end: cpu_limit|memory_limit
let o = {};
for (let i = 0; i < 100000; i++)
    o = Object.create(o);
for (;;)
    o.missing;
