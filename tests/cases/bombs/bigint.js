// what: a BigInt squared without end
// end: threw|memory_limit
// why: the engine has a largest BigInt, a million bits, which is met first: the program's own RangeError
let n = 3n;
for (;;)
    n = n * n;
