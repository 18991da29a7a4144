// what: nested quantifiers
// end: cpu_limit
for (;;)
    /(a+)+b/.test('a'.repeat(40));
