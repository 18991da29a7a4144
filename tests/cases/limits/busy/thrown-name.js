// what: the name of an error that is thrown
// end: cpu_limit
const e = new Error('x');
Object.defineProperty(e, 'name', { get() { for (;;); } });
throw e;
