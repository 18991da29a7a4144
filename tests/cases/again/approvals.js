// One after the other, two at once beside calls that need nobody, and one whose arguments come from an earlier one.
const first = await t.wipe({ n: 1, at: Date.now() });
const [a, b, c] = await Promise.all([t.wipe({ n: 2, r: Math.random() }), t.count({ n: 3 }), t.wipe({ n: 4 })]);
const last = await t.wipe({ first, sum: a.n + b.n + c.n });
return last.sum === 9 && last.first.n === 1 ? 'ok' : last;
