// what: microtasks that queue two each
// end: memory_limit
const breed = n => { queueMicrotask(() => breed(n + 1)); queueMicrotask(() => breed(n + 2)); };
breed(0);
await new Promise(() => {});
