// what: calls at once, answered in another order
// result: {"n":__N__,"mine":20,"order":"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19"}
await svc.begin({ n: __N__ });
const all = await Promise.all(Array.from({ length: 20 }, (_, i) => svc.later({ n: __N__, i, ms: (i * 7) % 20 })));
return { n: __N__, mine: all.filter((r) => r.n === __N__).length, order: all.map((r) => r.i).join() };
