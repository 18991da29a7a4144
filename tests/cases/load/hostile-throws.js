// what: throws, with an error that lies about itself
// ends: TypeError
await svc.begin({ n: __N__ });
const e = new TypeError('x'.repeat(100000));
Object.defineProperty(e, 'stack', { get() { throw e; } });
throw e;
