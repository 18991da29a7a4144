// what: a proxy without an end of keys, in an argument
// end: cpu_limit
await svc.take(new Proxy({}, { ownKeys() { for (;;); } }));
