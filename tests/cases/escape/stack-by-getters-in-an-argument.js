// tries: using up the stack by getters that go deeper while the codec reads
// why: the codec counts levels; its own error or the engine's rejects the call, which is not sent
// expect: true
const deep = () => ({ get a() { return deep(); } });
const e = await svc.take(deep()).catch((x) => x);
return e instanceof TypeError || e instanceof RangeError;
