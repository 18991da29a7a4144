// what: a call with very many arguments
// end: cpu_limit|memory_limit
const a = new Array(60000).fill(1);
for (;;)
    Math.max.apply(null, a);
