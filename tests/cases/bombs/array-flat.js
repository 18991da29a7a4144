// what: a flattened array of one array many times over
// end: memory_limit
let a = Array.from({ length: 100 }, (_, i) => i);
for (;;)
    a = new Array(10).fill(a).flat(2);
