// tries: adding fields to a failure that came without them
// why: what is absent in it is looked for on no prototype
// expect: ["Error","m","undefined",0]
// call: svc.broken
// fail: broken {"message":"m"}
let n = 0;
for (const k of ['name', 'code', 'stack']) Object.defineProperty(Object.prototype, k, { configurable: true, get() { n++; return 'cpu_limit'; } });
const e = await svc.broken().catch((x) => x);
const seen = n;
for (const k of ['name', 'code', 'stack']) delete Object.prototype[k];
return [e.name, e.message, typeof e.code, seen];
