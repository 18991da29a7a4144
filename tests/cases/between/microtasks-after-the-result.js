// leaves: microtasks that are queued while the result is read, when the end is already decided
const work = () => { globalThis.left = 1; console.log('late'); svc.late({}); setTimeout(work, 1); Object.prototype.left = 1; };
return { get a() { for (let i = 0; i < 1000; i++) Promise.resolve().then(work); return 1; }, b: [{ get c() { queueMicrotask(work); return 2; } }] };
// ---- next run
// expect: ["undefined","undefined",["one"]]
await new Promise((yes) => setTimeout(yes, 5));
return [typeof left, typeof ({}).left, [await svc.one({})]];
