// what: an error whose message never comes, on the console
// end: cpu_limit
const e = new Error('x');
Object.defineProperty(e, 'message', { get() { for (;;); } });
console.error(e);
for (;;);
