// what: reactions of one promise
// end: memory_limit
const p = new Promise(() => {});
for (let i = 0;; i++)
    p.then(() => i, () => i);
