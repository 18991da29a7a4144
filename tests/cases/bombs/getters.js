// what: accessors defined one by one
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    const o = {};
    for (let k = 0; k < 10; k++)
        Object.defineProperty(o, 'g' + k, { get: () => i, set(v) {}, configurable: true });
    kept.push(o);
}
