// why: code in getters and proxies runs inside the program and under its limits
// end: cpu_limit
return { get x() { for (;;); } };
