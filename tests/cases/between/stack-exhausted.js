// leaves: a stack that was used to its end, in every way to call
const names = [];
const tries = [() => { const f = () => f() + 1; f(); }, () => { const f = () => [1].map(f); f(); }, () => JSON.stringify({ toJSON: function f() { return JSON.stringify({ toJSON: f }); } }),
  () => { class A { get x() { return this.x; } } new A().x; }, () => { const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x; }, () => 'a'.replace(/a/, function f() { return 'a'.replace(/a/, f); })];
for (const t of tries) { try { t(); } catch (e) { names.push(e.name); } }
return names.every((n) => n === 'RangeError');
// ---- next run
// expect: [true,"RangeError"]
let depth = 0, name;
const f = () => { depth++; f(); };
try { f(); } catch (e) { name = e.name; }
return [depth > 3000, name];
