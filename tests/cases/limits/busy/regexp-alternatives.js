// what: alternatives that overlap
// end: cpu_limit
for (;;)
    /^(a|a)*$/.exec('a'.repeat(50) + 'b');
