// what: spread of large arrays into new ones
// end: memory_limit
let a = [1.5, 2.5];
for (;;)
    a = [...a, ...a];
