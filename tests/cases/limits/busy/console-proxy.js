// what: a proxy on the console
// end: cpu_limit
console.log(new Proxy({}, { ownKeys() { for (;;); } }));
for (;;);
