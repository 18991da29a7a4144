// what: arithmetic
// end: cpu_limit
let x = 0;
for (;;)
    x = Math.sin(x) + Math.hypot(x, 1, 2);
