// Timers fire where they fired before, between the calls; those that are cleared do not.
const order = [];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const cleared = setTimeout(() => order.push('never'), 100000);
await Promise.all([sleep(6).then(() => order.push('six')), sleep(1).then(() => order.push('one')), t.later({ ms: 3 }).then(() => { clearTimeout(cleared); order.push('call'); })]);
let ticks = 0;
await new Promise((done) => { const every = setInterval(() => { if (++ticks === 3) { clearInterval(every); done(); } }, 1); });
const limit = (p, ms) => { let id; return Promise.race([p, new Promise((_, no) => { id = setTimeout(() => no(new Error('late')), ms); })]).finally(() => clearTimeout(id)); };
order.push(ticks, await limit(t.echo({ v: 1 }), 100000).then((x) => x.v), await limit(new Promise(() => {}), 1).catch((e) => e.message), Date.now());
await t.wipe({ order });
setTimeout(() => order.push('after'), 1);
await sleep(4);
await t.wipe({ order });
return order.slice(3, 6).join() === '3,1,late' && order.at(-1) === 'after' ? 'ok' : order;
