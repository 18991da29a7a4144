await t.echo({ n: 1 });
await t.fail({});
