// leaves: another prototype of the global object
const ghosts = new Proxy({}, { has: (t, key) => key === 'ghost', get: (t, key) => (key === 'ghost' ? 1 : undefined) });
try { Object.setPrototypeOf(globalThis, ghosts); } catch { /* it may be refused */ }
try { Object.setPrototypeOf(Object.getPrototypeOf(globalThis), ghosts); } catch { /* as above */ }
return 1;
// ---- next run
// expect: ["undefined",true,true]
return [typeof ghost, Object.getPrototypeOf(Object.prototype) === null, globalThis instanceof Object];
