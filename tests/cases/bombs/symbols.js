// what: symbols as keys
// end: memory_limit
const kept = [];
for (let i = 0;; i++)
    kept.push(Symbol('description of a symbol ' + i), Symbol.for('registered ' + i));
