// what: objects sorted, written as JSON and read again
// result: {"n":__N__,"length":2000,"first":__N__,"last":5997}
await svc.begin({ n: __N__ });
const list = Array.from({ length: 2000 }, (_, i) => ({ key: ((i * 7919) % 2003) * 3, own: __N__ }));
list.sort((x, y) => x.key - y.key);
const back = JSON.parse(JSON.stringify(list));
return { n: __N__, length: back.length, first: back[0].own, last: back.filter((r) => r.key < 6000).at(-1).key };
