// leaves: symbols of the shared registry, on everything that lives long
const left = Symbol.for('left');
for (const o of [globalThis, Object.prototype, Array, Math, JSON, Promise.prototype])
  o[left] = 'mine';
globalThis.many = Array.from({ length: 1000 }, (_, i) => Symbol.for('left' + i));
Object.defineProperty(Symbol.prototype, 'description', { get: () => 'mine' });
Symbol.keyFor = () => 'mine';
return ({})[left];
// ---- next run
// expect: ["undefined","undefined","left","left",0,true]
const left = Symbol.for('left');
return [typeof ({})[left], typeof Math[left], left.description, Symbol.keyFor(left), Object.getOwnPropertySymbols(globalThis).filter((s) => Symbol.keyFor(s)).length,
  Symbol.for('left1') === Symbol.for('left1')];
