// what: groups of groups
// end: memory_limit
const kept = [], rows = Array.from({ length: 2000 }, (_, i) => ({ i, key: 'k' + i % 500 }));
for (;;)
    kept.push(Object.groupBy(rows, r => r.key), Map.groupBy(rows, r => r.i), Object.fromEntries(rows.map(r => [r.key + r.i, r])));
