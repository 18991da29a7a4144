// tries: a clock by two threads on shared memory
// why: there is neither shared memory nor a thread, and Atomics is not there
// expect: ["undefined","undefined","undefined","TypeError"]
let name;
try { Atomics.wait(new Int32Array(4), 0, 0, 1000); } catch (e) { name = e.name; }
return [typeof SharedArrayBuffer, typeof Worker, typeof Atomics, name];
