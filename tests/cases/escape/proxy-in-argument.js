// tries: running code while an argument is read
// why: a trap runs inside the program and under its limits
// end: cpu_limit
await svc.take(new Proxy({}, { ownKeys() { for (;;); } }));
