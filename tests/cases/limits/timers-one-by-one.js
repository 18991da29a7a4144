// what: a timer that has fired is none any more
// limits: {"timers": 1}
// 50: completed with "result":50
let n = 0;
for (let i = 0; i < input; i++)
    await new Promise(yes => setTimeout(yes, 0)).then(() => n++);
return n;
