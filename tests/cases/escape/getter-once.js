// tries: a getter that says something else when it is read again
// why: each is read once; what it said then is what is sent, recorded and shown
// expect: [1,1]
// call: svc.take {"v":1,"w":[1]}
let n = 0, m = 0;
await svc.take({ get v() { return ++n; }, w: Object.defineProperty([0], 0, { get() { return ++m; } }) });
return [n, m];
