// tries: the SDK, console and timers without their this, and with a hostile one
// why: none of them uses this
// expect: ["one","done",7,true]
// log: log without this
// call: search "x"
// call: step s
// call: svc.one
// call: timer 0
// call: step ended 7
// answer: search "done"
const { search, step } = codemode, { log } = console, { one } = svc;
const evil = new Proxy({}, { get() { throw new Error('this was read'); } });
log.call(evil, 'without this');
const found = search.call(evil, 'x'), made = step.call(evil, 's', () => 7), said = one.call(evil);
const timed = new Promise((yes) => setTimeout.call(evil, () => yes(true), 0));
return [await said, await found, await made, await timed];
