// tries: a proxy around an error, thrown, whose traps throw again
// why: what cannot be read is told as such
// end: threw
// error: Error: The program threw an object that cannot be read
throw new Proxy(new Error('inner'), { get() { throw new Error('trap'); }, getPrototypeOf() { throw new Error('trap'); } });
