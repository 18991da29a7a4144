// what: a backlog of microtasks
// end: memory_limit
for (let i = 0;; i++)
    queueMicrotask(() => i);
