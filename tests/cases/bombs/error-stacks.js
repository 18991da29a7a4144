// what: errors with stacks
// end: memory_limit
const kept = [];
function deep(n) { return n ? deep(n - 1) : new Error('an error of many'); }
for (;;) {
    const e = deep(50);
    kept.push(e, e.stack);
}
