// tries: going on after the end by promises, timers and calls
// why: what it did not await may end while anybody waits for it; then all of it is dead, and nothing of it runs again
// expect: 1
// calls: any
// logs: any
// warning: svc.slow (line 9) finished after the program had ended
// warning: svc.again (line 10) finished after the program had ended
setTimeout(() => { globalThis.late = 1; console.log('late'); }, 1);
svc.slow({}).then(() => console.log('later'));
Promise.resolve().then(async () => { for (;;) await svc.again({}); });
return 1;
// ---- next run
// tries: seeing what came of it
// why: as above
// expect: ["undefined","one"]
// call: svc.one {}
return [typeof late, await svc.one({})];
