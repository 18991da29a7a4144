// leaves: asynchronous generators in every state, one with a queue of requests
async function* g() { try { for (;;) yield await svc.hang({}); } finally { globalThis.left = 1; console.log('finally'); } }
const open = [g(), g(), g()];
open[0].next();
open[1].next();
open[1].next();
open[1].return(1);
Object.getPrototypeOf(Object.getPrototypeOf(g.prototype)).next = () => 'mine';
globalThis.open = open;
return 1;
// ---- next run
// expect: [["a","b"],"undefined"]
async function* h() { yield await svc.a({}); yield await svc.b({}); }
const seen = [];
for await (const x of h()) seen.push(x);
return [seen, typeof open];
