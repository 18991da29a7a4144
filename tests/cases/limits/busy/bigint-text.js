// what: the decimal text of a large BigInt
// end: cpu_limit|memory_limit
return (7n ** 1000000n).toString();
