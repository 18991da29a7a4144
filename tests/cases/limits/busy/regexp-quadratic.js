// what: a pattern that starts over at each character of a long text
// end: cpu_limit
for (;;)
    /\s+$/.test(' '.repeat(200000) + 'x');
