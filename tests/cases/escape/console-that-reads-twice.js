// tries: a table whose cells change while it is measured, and cells that are no text
// why: a table is lines of text of bounded size, whatever its cells say; no getter is asked
// expect: false
// logs: any
let n = 0;
console.table([{ get a() { n++; return 'x'.repeat(n * 10); } }, { a: { toString: () => { throw 1; } } }, new Proxy({}, { ownKeys: () => { throw new Error('no'); } })].slice(0, 2));
console.table(new Proxy([], {}));
console.count({ toString() { throw 1; } });
console.time(Symbol('t'));
return n > 0;
