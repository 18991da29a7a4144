// what: indices far apart
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    const a = [];
    for (let k = 0; k < 1000; k++)
        a[k * 100003 + i] = k;
    kept.push(a);
}
