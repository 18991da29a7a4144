// what: a human approves, whether the process was kept or not, and what was before is as it was
// result: {"n":__N__,"same":true,"asked":"__N__ please","steps":1}
await svc.begin({ n: __N__ });
let steps = 0;
const before = await codemode.step('draw', () => Math.random());
const chance = Math.random();
const first = await svc.echo({ chance });
steps++;
const { text } = await svc.ask({ n: __N__, text: '__N__ please' });
return { n: __N__, same: first.chance === chance && before < 1, asked: text, steps };
