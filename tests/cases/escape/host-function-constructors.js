// why: functions that reach the host are of the pass's own realm, so their constructors lead nowhere else
// expect: [true,true,true]
return [console.log, codemode.search, svc.anything].map((f) => f.constructor('return this')() === globalThis);
