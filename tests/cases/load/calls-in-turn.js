// what: calls, one after the other
// result: {"n":__N__,"seen":[0,1,2,3,4,5,6,7,8,9]}
await svc.begin({ n: __N__ });
const seen = [];
for (let i = 0; i < 10; i++) {
    const r = await svc.echo({ n: __N__, i });
    seen.push(r.i + r.n - __N__);
}
return { n: __N__, seen };
