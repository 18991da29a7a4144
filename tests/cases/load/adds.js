// what: some arithmetic
// result: {"n":__N__,"sum":499500}
await svc.begin({ n: __N__ });
let sum = 0;
for (let i = 0; i < 1000; i++)
    sum += i;
return { n: __N__, sum };
