// what: backtracking without case, over text of two bytes a character
// end: cpu_limit
for (;;)
    /^(([a-zß])+.)+[A-Z]([a-z])+$/i.test('ß'.repeat(50) + '€');
