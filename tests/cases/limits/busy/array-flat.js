// what: flat without an end of depth
// end: cpu_limit|memory_limit
let a = [1];
for (let i = 0; i < 30; i++)
    a = [a, a];
return a.flat(Infinity);
