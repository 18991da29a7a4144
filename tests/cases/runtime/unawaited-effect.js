// limits: {"unawaitedMs": 50}
t.effect({});
t.later({ ms: 1 });
throw new Error("the program's own");
