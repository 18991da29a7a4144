// what: backtracking in the v mode
// end: cpu_limit
for (;;)
    /^([\p{L}--[a-z]]+)+$/v.test('Ä'.repeat(40) + '!');
