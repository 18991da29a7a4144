// tries: running by timers and intervals when the run has ended
// why: a timer is a call whose answer nobody delivers any more
// expect: "ended"
// call: timer 0
// call: timer 10
// call: svc.first
// hang: timer -
setInterval(() => { console.log('tick'); }, 0);
setTimeout(() => { console.log('late'); svc.late(); }, 10);
await svc.first();
return 'ended';
