// limits: {"unawaitedMs": 20000}
t.fail({});
[1, 2].forEach(async (n) => {
  await t.later({ ms: 1 });
  if (n === 1) await t.fail({ n }).catch((e) => console.log(e.message));
  else await t.fail({ n });
});
return 1;
