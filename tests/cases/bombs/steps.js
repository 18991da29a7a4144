// what: copies of a value through recorded steps
// end: memory_limit
const kept = [];
for (let i = 0;; i++)
    kept.push(await codemode.step('copy ' + i, () => ({ i, rows: Array.from({ length: 5000 }, (_, k) => ({ k, t: 'row ' + k })) })));
