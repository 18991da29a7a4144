// tries: going on after the end by promises, timers and calls
// why: they are dead when the run has ended; nothing of it runs again
// expect: 1
// call: timer 1
// call: svc.slow {}
// call: svc.again {}
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
