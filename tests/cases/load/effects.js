// what: calls that are on the disk before they are sent
// result: {"n":__N__,"put":["a","b"]}
await svc.begin({ n: __N__ });
const a = await svc.put({ n: __N__, what: 'a' });
const b = await svc.put({ n: __N__, what: 'b' });
return { n: a.n === b.n ? a.n : 'another', put: [a.what, b.what] };
