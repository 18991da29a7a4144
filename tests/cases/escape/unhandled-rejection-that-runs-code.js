// tries: running code where a rejection is told: getters of the reason that throw, call and reject again
// why: the reason is read once, within the run; what it throws is told as unreadable
// expect: 1
// call: svc.from {"x":1}
// warning: Error: The program threw an object that cannot be read
// warning: E: m
// warning: svc.from (line 9) finished after the program had ended
Promise.reject({ get message() { throw new Error('no'); } });
Promise.reject(Object.defineProperties(new Error('m'), { name: { get() { svc.from({ x: 1 }); return 'E'; } } }));
return 1;
