// what: look-behind over a long text
// end: cpu_limit
for (;;)
    /(?<=(a+)+)b/.test('a'.repeat(1000));
