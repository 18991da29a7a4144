// what: a timer that was cleared is none any more, and does not keep the program from its end
// limits: {"timers": 2}
// 2: completed with "result":0
// 100: completed with "result":0
let fired = 0;
for (let i = 0; i < input; i++)
    clearTimeout(setTimeout(() => fired++, 60000));
await svc.ok({});
return fired;
