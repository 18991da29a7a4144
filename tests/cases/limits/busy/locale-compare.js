// what: comparing by locale
// end: cpu_limit
const a = 'ä'.repeat(100000), b = a + 'x';
for (;;)
    a.localeCompare(b, 'de', { sensitivity: 'base' });
