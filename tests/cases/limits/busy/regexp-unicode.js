// what: backtracking over code points
// end: cpu_limit
for (;;)
    /^(\p{L}+)+$/u.test('ä'.repeat(40) + '!');
