// what: a chain of causes
// end: memory_limit
let e = new Error('first');
for (let i = 0;; i++)
    e = new AggregateError([e], 'one of many, number ' + i, { cause: e });
