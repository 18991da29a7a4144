// leaves: a stack used to its end by the last thing that the program does, with finally blocks that go on
// end: threw|stack_limit
globalThis.deep = 0;
(function f() { deep++; try { f(); } finally { deep++; } })();
// ---- next run
// expect: [true,"RangeError","undefined"]
let depth = 0, name;
const f = () => { depth++; f(); };
try { f(); } catch (e) { name = e.name; }
return [depth > 3000, name, typeof deep];
