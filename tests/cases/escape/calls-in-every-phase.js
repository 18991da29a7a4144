// tries: a call in each phase: while an argument is read, in a then, in a finally, in a microtask, in a timer
// why: calls are numbered in the order in which they are sent
// expect: 5
// call: svc.b
// call: svc.a {"x":1}
// call: svc.c
// call: timer 0
// call: svc.d
// call: svc.e
let n = 0;
const count = () => { n++; };
await svc.a({ get x() { svc.b().then(count); return 1; } }).then(count);
await new Promise((yes) => queueMicrotask(() => svc.c().then(count).then(yes)));
await new Promise((yes) => setTimeout(() => svc.d().then(count).finally(() => svc.e().then(count).then(yes)), 0));
return n;
