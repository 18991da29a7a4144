// Recursion until the stack ends, caught; through natives; through JSON.
// expect: ["RangeError","RangeError","RangeError"]
const name = (f) => { try { f(); return 'none'; } catch (e) { return e.name; } };
const down = (n) => down(n + 1) + 1;
const chain = {};
let at = chain;
for (let i = 0; i < 200000; i++) at = at.a = {};
return [name(() => down(0)), name(function again() { [1].map(again); }), name(() => JSON.stringify(chain))];
