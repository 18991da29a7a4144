// what: one chain of reactions, held at its beginning
// end: memory_limit
let p = globalThis.first = new Promise(() => {});
for (let i = 0;; i++)
    p = p.then(v => [v, i]);
