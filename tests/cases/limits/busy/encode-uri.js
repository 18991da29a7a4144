// what: encodeURIComponent of a long text
// end: cpu_limit|memory_limit
const text = 'ä€'.repeat(500000);
for (;;)
    encodeURIComponent(text);
