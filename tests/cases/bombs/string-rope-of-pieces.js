// what: one rope of ever more pieces, never flattened
// end: memory_limit
let s = '';
for (let i = 0;; i++)
    s += 'piece ' + i;
