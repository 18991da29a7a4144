// what: floods the console
// ends: cpu_limit|wall_limit
await svc.begin({ n: __N__ });
for (;;)
    console.log('x'.repeat(1000));
