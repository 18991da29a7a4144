// leaves: a clock that deliveries have moved on, and a performance clock with it
for (let i = 0; i < 5; i++) await svc.tick({});
await new Promise((yes) => setTimeout(yes, 5));
return Date.now() > 1700000000000;
// ---- next run
// expect: [1700000000000,0,500]
const before = [Date.now(), performance.now()];
await svc.tick({});
return [...before, performance.now()];
