// what: scripts evaluated and kept
// end: memory_limit
const kept = [];
for (let i = 0;; i++)
    kept.push((0, eval)(`(function f${i}(a, b) { const c = [${i}, a, b, 'text ${i}']; return () => c.map(x => [x, a, b]); })(1, 2)`));
