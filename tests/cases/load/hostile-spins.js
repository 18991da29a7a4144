// what: computes without end
// ends: cpu_limit|wall_limit
await svc.begin({ n: __N__ });
for (;;);
