// Steps with calls in them, two at once, one in another, one that fails: what has ended is not run again, and its lines are not lost.
const runs = [];
const one = codemode.step('one', async () => { console.log('in one'); await t.count({ in: 'one' }); await t.later({ ms: 4 }); return Math.random(); });
const two = codemode.step('two', async () => {
    console.log('in two');
    const inner = await codemode.step('inner', async () => (await t.count({ in: 'inner' })).in + Math.random());
    await t.later({ ms: 2 });
    return inner;
});
const bad = codemode.step('bad', async () => { await t.count({ in: 'bad' }); throw Object.assign(new RangeError('no ' + Math.random()), { extra: 1n }); }).catch((e) => [e.name, e.message, String(e.extra)]);
runs.push(await two, await one, await bad);
await t.wipe({ runs });
runs.push(await codemode.step('late', () => Date.now() + Math.random()));
await t.wipe({ runs });
return runs[0].startsWith('inner0.') && typeof runs[1] === 'number' && runs[2][0] === 'RangeError' && runs[2][2] === '1' ? 'ok' : runs;
