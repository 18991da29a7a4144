const seen = [];
try {
  await t.fail({});
} catch (e) {
  seen.push(e.message, e.code, e.status);
}
seen.push((await t.echo({ n: 1 })).n);
return seen;
