// what: never lets go of the queue of promises
// ends: cpu_limit|wall_limit
await svc.begin({ n: __N__ });
for (;;)
    await null;
