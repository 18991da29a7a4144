// what: one pass from start to end
// limits: {"deadlineMs": 3000}
// 1: completed
// 300000: deadline with did not end within 3000 ms, waiting for calls included (limits.deadlineMs). 1 call was unanswered.
await new Promise(yes => setTimeout(yes, input));
