// what: normalisation of a large text
// end: cpu_limit|memory_limit
const text = '\u1e9b\u0323'.repeat(2000000);
for (;;)
    text.normalize('NFKD');
