// leaves: private fields stamped upon objects that the next run has its own of
const stamp = Function('class Base { constructor(o) { return o; } } return class Stamp extends Base { #left = "mine"; static has(o) { return #left in o; } }')();
const failed = [];
for (const o of [console, svc, svc.one, codemode, globalThis, Array.prototype, Object.prototype, Math, JSON]) {
  try { new stamp(o); } catch (e) { failed.push(e.name); }
}
globalThis.stamp = stamp;
return failed.length < 9;
// ---- next run
// expect: ["undefined",false,false,false,false]
const stamp = Function('class Base { constructor(o) { return o; } } return class Stamp extends Base { #left = "mine"; static has(o) { return #left in o; } }')();
return [typeof globalThis.stamp, ...[console, globalThis, Array.prototype, Math].map((o) => stamp.has(o))];
