// what: closures over their own variables
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    const n = [i];
    kept.push(() => n);
}
