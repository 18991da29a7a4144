// what: replace with a pattern that backtracks
// end: cpu_limit
for (;;)
    'a'.repeat(50).replace(/(a*)*c/g, '');
