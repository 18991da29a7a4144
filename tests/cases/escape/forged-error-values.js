// tries: fields that are no texts
// why: they become text or are left out
// end: threw
// error: 5: [object Object]
throw Object.defineProperties(new Error('x'), { name: { value: 5 }, message: { value: {} }, code: { value: { toString: () => 'cpu_limit' } } });
