// tries: running a constructor of its own on the host's promises by Symbol.species and by constructor
// why: the prelude derives no promise; queueMicrotask waits by await, which asks neither
// expect: ["first","ran",0]
// call: svc.first {}
let n = 0, ran = 'no';
Object.defineProperty(Promise, Symbol.species, { get() { n++; return Array; } });
Object.defineProperty(Promise.prototype, 'constructor', { configurable: true, get() { n++; return Promise; } });
queueMicrotask(() => { ran = 'ran'; });
const p = svc.first({});
const before = n;
Object.defineProperty(Promise.prototype, 'constructor', { configurable: true, writable: true, value: Promise });
return [await p, ran, before];
