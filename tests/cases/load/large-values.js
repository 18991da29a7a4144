// what: large values both ways
// result: {"n":__N__,"length":100000,"rows":1000}
await svc.begin({ n: __N__ });
const sent = { n: __N__, text: 'x'.repeat(100000), rows: Array.from({ length: 1000 }, (_, id) => ({ id, of: __N__ })) };
const got = await svc.echo(sent);
return { n: got.n, length: got.text.length, rows: got.rows.filter((r, i) => r.id === i && r.of === __N__).length };
