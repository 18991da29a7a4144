// leaves: loops of asynchronous work that nothing awaits
for (let i = 0; i < 10; i++)
  (async () => { try { for (;;) { await svc.one({ i }); await null; globalThis.left = i; console.log; } } catch { console.log('late'); } finally { svc.late({}); } })();
await svc.one({});
return 1;
// ---- next run
// expect: ["undefined",["one","one"]]
return [typeof left, await Promise.all([svc.one({}), svc.one({})])];
