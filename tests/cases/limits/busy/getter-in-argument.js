// what: a getter in an argument
// end: cpu_limit
await svc.take({ get a() { for (;;); } });
