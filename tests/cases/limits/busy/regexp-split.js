// what: split with a pattern that backtracks
// end: cpu_limit
for (;;)
    'a'.repeat(50).split(/(a*)*c/);
