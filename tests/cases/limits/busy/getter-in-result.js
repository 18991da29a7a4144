// what: a getter in the result
// end: cpu_limit
return { get a() { for (;;); } }
