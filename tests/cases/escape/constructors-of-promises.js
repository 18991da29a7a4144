// tries: the same by the promises that calls return, and by their methods
// why: they are promises of the pass's realm, without members of their own
// expect: [true,true,true,[],true]
// call: svc.one
// call: search "x"
// call: timer 0
const p = svc.one(), q = codemode.search('x');
const own = (x) => x.constructor.constructor('return this')() === globalThis;
const t = await new Promise((yes) => setTimeout(yes, 0));
return [own(p), own(q), Object.getPrototypeOf(p) === Promise.prototype, Reflect.ownKeys(p), t === undefined];
