// Clock, random numbers and identifiers at every turn are those of before: they are arguments of a call that has to be the same.
const look = () => [Date.now(), Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(4))], performance.now(), new Date().toISOString()];
const seen = [look()];
await t.echo({});
seen.push(look(), look());
await t.later({ ms: 3 });
seen.push(look());
await t.wipe({ seen });
seen.push(look());
await t.echo({ n: 1 });
seen.push(look());
await t.wipe({ seen });
return seen.every((x, i) => i === 0 || x[0] >= seen[i - 1][0]) ? 'ok' : seen;
