// what: a table of a claimed length
// end: cpu_limit|memory_limit
for (;;)
    console.table(new Array(1e6).fill({ a: 1 }));
