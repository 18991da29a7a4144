// limits: {"unawaitedMs": 30000}
t.wipe({}).then(() => t.echo({ never: true }));
await codemode.step("s", () => 1);
codemode.step("left", async () => { await t.wipe({ n: 2 }); });
return 1;
