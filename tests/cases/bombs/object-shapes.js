// what: objects of ever new shapes
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    const o = {};
    for (let k = 0; k < 20; k++)
        o['k' + i + '_' + k] = 1;
    kept.push(o);
}
