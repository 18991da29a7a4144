// what: timers without end
// ends: timers_limit
await svc.begin({ n: __N__ });
for (;;)
    setTimeout(() => {}, 1000);
