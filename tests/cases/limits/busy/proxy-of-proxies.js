// what: proxies in proxies
// end: cpu_limit
let p = {};
for (let i = 0; i < 1000; i++)
    p = new Proxy(p, {});
for (;;)
    p.a;
