// tries: dates that cross, by Date.prototype.getTime, valueOf, toISOString and toJSON
// why: the prelude asks the getTime that it took; the time that crosses is the date's own
// expect: ["first",5,0]
// call: svc.when
// call: svc.first {"d":5} @ {"/d":"date"}
// answer: when 5 @ {"":"date"}
let n = 0;
const { getTime } = Date.prototype;
for (const k of ['getTime', 'valueOf', 'toISOString', 'toJSON', 'toString', Symbol.toPrimitive]) Date.prototype[k] = () => { n++; return 1; };
globalThis.Date = function () { n++; };
const Real = Object.getPrototypeOf(await svc.when()).constructor;
return [await svc.first({ d: new Real(5) }), getTime.call(new Real(5)), n];
