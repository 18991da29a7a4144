// what: floods the console
// ends: memory_limit|cpu_limit|wall_limit
await svc.begin({ n: __N__ });
for (;;)
    console.log('x'.repeat(1000));
