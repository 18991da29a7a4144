// what: ropes that are flattened
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    let s = 'seed' + i;
    for (let k = 0; k < 12; k++)
        s = s + k + s;
    kept.push(s, s.charCodeAt(s.length >> 1));
}
