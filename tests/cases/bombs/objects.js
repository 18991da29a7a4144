// what: small objects
// end: memory_limit
const kept = [];
for (let i = 0;; i++)
    kept.push({ i, inner: { at: i } });
