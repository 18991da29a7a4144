const all = await Promise.all([t.later({ ms: 30 }), t.later({ ms: 1 }), t.echo({ n: 3 })]);
return all.map((x) => x.ms ?? x.n);
