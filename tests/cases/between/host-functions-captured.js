// leaves: our functions in the hands of code that would call them later
// end: calls_in_flight_limit|completed
const { log } = console, { step, search } = codemode, { one } = svc, later = setTimeout, micro = queueMicrotask;
const use = () => { log('late'); one({}); step('late', () => 1); search('late'); later(use, 1); micro(use); };
globalThis.use = use;
later(use, 1);
svc.hang({}).then(use, use);
(async () => { for (;;) { await svc.hang({}); use(); } })();
return [typeof log, typeof one];
// ---- next run
// expect: ["undefined","one",true]
const one = await svc.one({});
await new Promise((yes) => setTimeout(yes, 10));
return [typeof use, one, svc.one === svc.one];
