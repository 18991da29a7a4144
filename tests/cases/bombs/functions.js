// what: functions compiled from text
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    const f = new Function('x', `return x + ${i}; /*${'y'.repeat(5000)}*/`);
    f(1);
    kept.push(f);
}
