// Calls at once come back in the order of before, whatever they take this time.
const order = [];
const note = (n) => (x) => { order.push(n); return x; };
await Promise.all([[9, 'a'], [1, 'b'], [5, 'c'], [0, 'd']].map(([ms, n]) => t.later({ ms, n }).then(note(n))));
order.push(await Promise.race([t.later({ ms: 6 }).then(() => 'slow'), t.later({ ms: 2 }).then(() => 'fast')]));
order.push(await Promise.any([t.fail({}), t.later({ ms: 1 }).then(() => 'any')]));
await t.wipe({ order });
const settled = await Promise.allSettled([t.fail({}), t.later({ ms: 2 }), t.echo({ z: 1 })]);
await t.wipe({ order, settled: settled.map((s) => s.status) });
return order.length === 6 && order[5] === 'any' ? 'ok' : order;
