const before = await t.echo({ n: 1 });
await t.wipe({ disk: "all", before });
return "never";
