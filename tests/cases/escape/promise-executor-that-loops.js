// tries: computing where it cannot be interrupted: an executor, a comparison, a reviver, a replacer
// why: the limit is the kernel's clock and knows no functions
// end: cpu_limit
[3, 2, 1].sort(() => { new Promise(() => { JSON.parse('[1]', () => { for (;;); }); }); });
