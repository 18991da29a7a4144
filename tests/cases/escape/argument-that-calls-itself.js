// tries: an argument whose getter passes the same argument again
// why: each call reads it anew and is a call of its own, sent when it has been read
// expect: ["take",4]
// call: svc.take {"n":4}
// call: svc.take {"n":4}
// call: svc.take {"n":4}
// call: svc.take {"n":4}
let n = 0;
const arg = { get n() { n++; if (n < 4) svc.take(arg); return n; } };
const v = await svc.take(arg);
return [v, n];
