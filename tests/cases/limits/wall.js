// what: time in which the program itself runs
// limits: {"wallMs": 1000}
// 1: completed
// 1000000: wall_limit with ran for 1000 ms (limits.wallMs)
let n = 0;
for (let i = 0; i < input; i++)
    for (let k = 0; k < 10000; k++)
        n = (n + k) % 7;
return n;
