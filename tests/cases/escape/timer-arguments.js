// tries: times that are no numbers, run code or are enormous
// why: a time is made a number once and kept in range
// expect: [1,"TypeError"]
// call: timer 0
// call: timer 0
// call: timer 2147483647
// call: timer 3
let n = 0;
setTimeout(() => {}, -5);
setTimeout(() => {}, NaN);
setTimeout(() => {}, 1e300);
await new Promise((yes) => setTimeout(yes, { valueOf() { n++; return 3; } }));
let name;
try { setTimeout(() => {}, Symbol()); } catch (e) { name = e.name; }
return [n, name];
