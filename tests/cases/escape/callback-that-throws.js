// tries: ending the host's delivery by a timer whose function throws
// why: it is a warning, and the next delivery comes
// expect: "first"
// call: timer 0
// call: timer 1
// call: svc.first
// warning: A callback of setTimeout threw Error: in the callback
// warning: A callback of queueMicrotask threw Error: in the microtask
setTimeout(() => { throw new Error('in the callback'); }, 0);
await new Promise((yes) => setTimeout(yes, 1));
queueMicrotask(() => { throw new Error('in the microtask'); });
return await svc.first();
