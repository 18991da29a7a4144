// limits: {"unawaitedMs": 50}
t.never({});
t.wipe({});
await t.echo({ n: 1 });
return "done";
