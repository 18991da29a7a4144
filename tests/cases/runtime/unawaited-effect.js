// limits: {"unawaitedMs": 300}
t.effect({});
// Whose intent is on the disk has had the first one's there before it: that one was sent.
await t.strict({ n: 1 });
t.later({ ms: 1 });
throw new Error("the program's own");
