// tries: generators that wait for ever, and whose finally would go on after the end
// why: a run does not wait for them and does not end them
// expect: 1
// call: svc.never {}
// hang: never -
async function* g() { try { yield 1; await svc.never({}); yield 2; } finally { console.log('finally'); await svc.after({}); } }
const it = g();
await it.next();
it.next();
it.return(5);
return 1;
