// why: a run's promises, timers and calls are dead when it has ended; nothing of it runs again
// expect: 1
setTimeout(() => { globalThis.late = 1; console.log('late'); }, 1);
svc.slow({}).then(() => console.log('later'));
Promise.resolve().then(async () => { for (;;) await svc.again({}); });
return 1;
// ---- next run
// expect: ["undefined","one"]
return [typeof late, await svc.one({})];
