// what: toJSON of an argument
// end: cpu_limit
await svc.take({ a: { toJSON() { for (;;); } } });
for (;;);
