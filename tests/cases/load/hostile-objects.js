// what: fills memory with objects
// ends: memory_limit|cpu_limit|wall_limit
// needs: memory
await svc.begin({ n: __N__ });
const kept = [];
for (;;)
    kept.push({ a: { b: [kept.length] } });
