// What awaits what, and in which order callbacks run, follows from the deliveries alone.
const log = [];
const worker = async (name, n) => { for (let i = 0; i < n; i++) { const r = await t.later({ ms: (name.charCodeAt(0) * 7 + i * 5) % 4, name, i }); log.push(name + r.i + '@' + Math.random().toFixed(6)); } };
await Promise.all([worker('p', 4), worker('q', 3), worker('r', 5)]);
queueMicrotask(() => log.push('micro'));
await null;
await t.wipe({ log });
await Promise.all([worker('s', 2), t.wipe({ n: log.length }), worker('u', 2)]);
await t.wipe({ log });
return log.length === 17 ? 'ok' : log;
