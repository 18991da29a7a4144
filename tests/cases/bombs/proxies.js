// what: proxies around proxies
// end: memory_limit
const kept = [];
for (let i = 0;; i++)
    kept.push(new Proxy(new Proxy({ i }, {}), { get: () => i }));
