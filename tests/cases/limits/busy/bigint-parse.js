// what: a BigInt from a long text
// end: cpu_limit|memory_limit
const text = '7'.repeat(300000);
for (;;)
    BigInt(text);
