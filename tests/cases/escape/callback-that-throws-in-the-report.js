// tries: the same with a thrown value that throws when it is told
// why: it is told as unreadable
// expect: 1
// call: timer 0
// call: timer 1
// warning: A callback of setTimeout threw Error: The program threw an object that cannot be read
setTimeout(() => { throw { get message() { throw 1; } }; }, 0);
await new Promise((yes) => setTimeout(yes, 1));
return 1;
