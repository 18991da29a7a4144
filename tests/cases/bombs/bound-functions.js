// what: functions bound to functions
// end: memory_limit
let f = x => x;
const kept = [];
for (let i = 0;; i++)
    kept.push(f.bind({ i }, i, i + 0.5));
