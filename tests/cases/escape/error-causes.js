// tries: errors that contain themselves, and causes whose getters change what there is
// why: a cycle is refused by its path; which fields there are is settled before one is read
// expect: ["TypeError","take"]
// call: svc.take {"name":"Error","message":"x","first":1,"cause":2} @ {"":"error"}
const e = new Error('self');
e.self = e;
const f = new Error('x', { cause: 2 });
Object.defineProperty(f, 'first', { enumerable: true, get() { Object.defineProperty(f, 'cause', { enumerable: true, value: 3 }); Object.defineProperty(f, 'cause', { value: 2 }); return 1; } });
return [await svc.take(e).catch((x) => x.name), await svc.take(f)];
