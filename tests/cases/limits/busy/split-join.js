// what: split and join of a long text
// end: cpu_limit|memory_limit
const text = 'a,'.repeat(500000);
for (;;)
    text.split(',').join(';');
