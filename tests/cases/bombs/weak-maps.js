// what: a WeakMap whose keys are kept
// end: memory_limit
const w = new WeakMap(), keys = [];
for (let i = 0;; i++) {
    const key = { i };
    keys.push(key);
    w.set(key, { value: [i] });
}
