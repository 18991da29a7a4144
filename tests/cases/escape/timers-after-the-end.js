// tries: running by timers and intervals when the run has ended
// why: a timer is a call whose answer nobody delivers any more
// expect: "ended"
// call: timer 0
// call: timer 10
// call: svc.first
// hang: timer -
// warning: setInterval (line 10) was still running when the program ended, and was stopped. End it with clearIn
// warning: setTimeout (line 11) had not fired when the program ended: its callback did not run. Await a promise
setInterval(() => { console.log('tick'); }, 0);
setTimeout(() => { console.log('late'); svc.late(); }, 10);
await svc.first();
return 'ended';
