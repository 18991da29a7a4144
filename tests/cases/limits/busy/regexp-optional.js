// what: many optional parts
// end: cpu_limit
for (;;)
    /(x+x+)+y/.test('x'.repeat(60));
