// A step in whose function a human is asked runs again from its start: with the clock and the numbers that it had.
let outside = 0;
const counted = t.later({ ms: 2 }).then(() => outside++);
const a = codemode.step('a', async () => {
    const seen = [Date.now(), Math.random(), outside];
    const mid = await t.count({ seen });
    seen.push(Math.random(), Date.now());
    await t.wipe({ seen });
    return [seen.length, mid.seen.length, Math.random()];
});
const b = codemode.step('b', async () => { await t.later({ ms: 1 }); const x = Math.random(); await t.count({ x }); await t.wipe({ x, of: 'b' }); return x; });
const both = await Promise.all([a, b, counted]);
await t.wipe({ both });
return both[0][0] === 5 && both[0][1] === 3 && both[2] === 0 ? 'ok' : both;
