// what: dates and their texts
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    const d = new Date(i * 86400000);
    kept.push(d, d.toISOString(), d.toLocaleString('en-GB'));
}
