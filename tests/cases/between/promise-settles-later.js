// leaves: promises that wait for a call or a timer, with functions that would run when they settle
globalThis.pending = [svc.hang({}), new Promise((yes) => setTimeout(yes, 5)), svc.hang2({})];
for (const p of pending)
  p.then(() => { globalThis.left = 1; Object.prototype.left = 1; console.log('late'); }).finally(() => svc.late({}));
(async () => { await Promise.all(pending); globalThis.left = 2; })();
return 1;
// ---- next run
// expect: ["undefined","undefined","one"]
await new Promise((yes) => setTimeout(yes, 50));
const one = await svc.one({});
return [typeof left, typeof pending, one];
