// what: joined arrays
// end: memory_limit
const kept = [], parts = new Array(20000).fill('part');
for (let i = 0;; i++) {
    parts[i % 20000] = 'other' + i;
    kept.push(parts.join('-'));
}
