// tries: an exception out of console, by a value whose error cannot be read
// why: console never throws because of what it shows
// expect: "went on"
// log: log {}
// log: log { a: {} }
const bad = () => Object.defineProperty(new Error('x'), 'message', { get() { throw 1; } });
const value = new Proxy({}, { ownKeys() { throw bad(); } });
console.log(value);
console.log({ a: value });
return 'went on';
