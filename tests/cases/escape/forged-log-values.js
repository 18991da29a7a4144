// tries: log lines of values that count, throw, never end or pass for others
// why: what a value shows is bounded in depth and length and never throws; getters are named, not asked
// expect: 0
// log: log { x: [Getter] }
// log: log { a: [Getter] }
// log: log [Circular]
let n = 0;
console.log({ get x() { n++; throw new Error('no'); } });
const deep = { get a() { n = 3; return deep2(); } };
function deep2() { return Object.defineProperty({}, 'a', { enumerable: true, get: deep2 }); }
console.log(deep);
console.log('[Circular]');
return n;
