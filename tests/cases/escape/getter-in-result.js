// tries: running code while the host takes the result
// why: getters run inside the program and under its limits
// end: cpu_limit
return { get x() { for (;;); } };
