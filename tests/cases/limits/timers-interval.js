// what: an interval is one timer
// limits: {"timers": 1}
// 1: completed with "result":3
// 2: timers_limit with limits.timers
let n = 0;
await new Promise(yes => {
    for (let i = 0; i < input; i++)
        setInterval(() => ++n === 3 && yes(), 1);
});
return n;
