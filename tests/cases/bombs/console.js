// what: console lines, each made of a large value
// end: memory_limit
const big = Array.from({ length: 50 }, (_, i) => ({ i, text: 'row '.repeat(i) })), kept = [];
for (let i = 0;; i++) {
    console.log(i, big);
    kept.push(String(i).repeat(200000));
}
