// leaves: microtasks that queue each other without end
// end: cpu_limit|memory_limit|crashed
// worker: replaced
const again = () => Promise.resolve().then(again);
again();
return 'done';
// ---- next run
// expect: ["first","second"]
const order = [];
queueMicrotask(() => order.push('first'));
await null;
order.push('second');
return order;
