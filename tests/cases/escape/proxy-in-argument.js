// why: as above, while an argument is read
// end: cpu_limit|threw
await svc.take(new Proxy({}, { ownKeys() { for (;;); } }));
