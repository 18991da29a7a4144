// leaves: timers that have not fired, and an interval that would never end
let n = 0;
for (let i = 0; i < 50; i++)
  setTimeout(() => { globalThis.left = ++n; console.log('late'); svc.late({}); }, i);
setInterval(() => { globalThis.left = ++n; console.log('again'); }, 1);
return n;
// ---- next run
// expect: ["undefined",["mine"]]
const fired = [];
setTimeout(() => fired.push('mine'), 1);
await new Promise((yes) => setTimeout(yes, 20));
return [typeof left, fired];
