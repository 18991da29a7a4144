// what: iterators over iterators
// end: memory_limit
const kept = [], base = [1, 2, 3];
for (;;)
    kept.push(base[Symbol.iterator](), base.entries(), new Map([[1, 2]]).entries(), 'text'[Symbol.iterator]());
