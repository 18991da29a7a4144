// what: one chain of reactions
// end: memory_limit
let p = new Promise(() => {});
for (let i = 0;; i++)
    p = p.then(v => [v, i]);
