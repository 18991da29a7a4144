// leaves: weak maps and sets with our objects and the language's as keys
globalThis.notes = new WeakMap();
globalThis.marks = new WeakSet();
for (const o of [console, svc, codemode, svc.one, Math, Array.prototype, performance, crypto, globalThis]) {
  notes.set(o, 'mine');
  marks.add(o);
}
return notes.get(console);
// ---- next run
// expect: ["undefined",false,false]
const notes = new WeakMap(), marks = new WeakSet();
return [typeof globalThis.notes, notes.has(console) || notes.has(svc), marks.has(Math)];
