// what: upper case by locale
// end: cpu_limit|memory_limit
const text = 'iß'.repeat(1000000);
for (;;)
    text.toLocaleUpperCase('tr');
