// what: CPU time
// limits: {"cpuMs": 200}
// 1: completed
// 1000000: cpu_limit with used its 200 ms of CPU time (limits.cpuMs)
let n = 0;
for (let i = 0; i < input; i++)
    for (let k = 0; k < 10000; k++)
        n = (n + k) % 7;
return n;
