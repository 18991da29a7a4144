// leaves: generators that were begun and not ended, and another next for all
function* g() { try { for (;;) yield globalThis.left = 1; } finally { globalThis.left = 2; console.log('finally'); } }
globalThis.kept = Array.from({ length: 100 }, () => { const it = g(); it.next(); return it; });
const proto = Object.getPrototypeOf(Object.getPrototypeOf(g()));
Object.getPrototypeOf(g.prototype).next = () => ({ done: true });
proto.return = () => 'mine';
return kept.length;
// ---- next run
// expect: [[1,2],"undefined","undefined"]
function* h() { yield 1; yield 2; }
return [[...h()], typeof left, typeof kept];
