// what: one array, copied into itself
// end: memory_limit
let a = [1, 2, 3, 4];
for (;;)
    a = a.concat(a);
