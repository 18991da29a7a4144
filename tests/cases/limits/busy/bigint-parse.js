// what: a BigInt from a long text
// end: cpu_limit|memory_limit
return BigInt('7'.repeat(10000000));
