// leaves: microtasks that throw and overflow the stack while the queue drains
let depth = 0;
const deep = () => { depth++; deep(); };
for (let i = 0; i < 200; i++) {
  queueMicrotask(() => { throw new Error('left ' + i); });
  Promise.resolve().then(deep);
  Promise.resolve().then(() => { throw { get message() { throw new Error('hostile'); } }; }).catch(() => { throw null; });
}
return 1;
// ---- next run
// expect: ["a","b",1]
const order = [];
queueMicrotask(() => order.push('a'));
await null;
order.push('b');
return [...order, await new Promise((yes) => queueMicrotask(() => yes(1)))];
