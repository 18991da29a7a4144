// what: time spent waiting is not the program's
// limits: {"wallMs": 1000}
// 1500: completed
await new Promise(yes => setTimeout(yes, input));
