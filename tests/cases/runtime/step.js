let ran = 0;
const a = await codemode.step("roll", async () => {
  ran++;
  return { v: 6, inner: (await t.echo({ n: 5 })).n };
});
return [a, ran];
