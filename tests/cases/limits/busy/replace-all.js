// what: replaceAll at every character
// end: cpu_limit|memory_limit
const text = 'ab'.repeat(1000000);
for (;;)
    text.replaceAll('a', 'b');
