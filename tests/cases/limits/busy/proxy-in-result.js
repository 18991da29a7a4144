// what: a proxy that never says what it is
// end: cpu_limit
return new Proxy({}, { getPrototypeOf() { for (;;); }, ownKeys() { for (;;); }, get() { for (;;); } });
