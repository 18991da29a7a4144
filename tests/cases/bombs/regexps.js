// what: many regular expressions, compiled
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    const r = new RegExp(`^(?:(\\w+)-${i}|[a-f${i % 10}]{2,9}(?<n>x+y?)*)+$`, 'iu');
    r.test('word-' + i);
    kept.push(r);
}
