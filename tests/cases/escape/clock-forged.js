// tries: setting the clock back for itself and for the host
// why: a Date.now of its own is the program's; the host's clock is told to it, never by it
// expect: [5,500]
// call: svc.first
// call: timer 10
Date.now = () => 5;
performance.now === 0;
await svc.first();
await new Promise((yes) => setTimeout(yes, 10));
return [Date.now(), performance.now()];
