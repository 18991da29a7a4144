// tries: making the clock move by waiting, computing or asking often
// why: it moves to the time of a delivery
// expect: [0,0,500]
// call: svc.first
const a = Date.now();
for (let i = 0; i < 1000; i++) { await null; Date.now(); }
const b = Date.now();
await new Promise((yes) => queueMicrotask(yes));
const c = Date.now();
await svc.first();
return [b - a, c - b, Date.now() - c];
