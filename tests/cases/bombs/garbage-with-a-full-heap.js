// what: garbage made as fast as possible beside what is kept
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    for (let k = 0; k < 50; k++)
        new Array(2000).fill(k).map(String);
    kept.push(new Float64Array(4000).fill(i));
}
