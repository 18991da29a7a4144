// what: a getter on the console
// end: cpu_limit
console.log({ get a() { for (;;); } });
for (;;);
