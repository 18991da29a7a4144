// what: a sort that needs as much again
// end: memory_limit
const a = [];
for (let i = 0;; i++) {
    for (let k = 0; k < 100000; k++)
        a.push({ v: (k * 7919 + i) % 100003 });
    a.toSorted((x, y) => x.v - y.v);
}
