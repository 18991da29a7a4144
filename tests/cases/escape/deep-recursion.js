// tries: running over the end of the thread's stack, in its own functions and in the engine's
// why: the engine's own stack limit comes before the thread's end, as an error that the program can catch
// expect: ["RangeError","RangeError"]
const names = [];
try { (function f() { f(); })(); } catch (e) { names.push(e.name); }
try { const f = () => [1].map(f); f(); } catch (e) { names.push(e.name); }
return names;
