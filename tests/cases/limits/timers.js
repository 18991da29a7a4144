// what: timers that are pending
// limits: {"timers": 5}
// 4: completed
// 5: completed
// 6: timers_limit with more than 5 timers
for (let i = 0; i < input; i++)
    setTimeout(() => {}, 60000);
