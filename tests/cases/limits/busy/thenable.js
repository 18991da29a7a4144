// what: a loop in the then of what is awaited
// end: cpu_limit
await { then() { for (;;); } }
