// limits: {"unawaitedMs": 20000}
const out = [];
[1].forEach(async (n) => {
  const got = await t.later({ ms: 5, n });
  out.push((await t.echo({ n: got.n + 10 })).n);
});
return out;
