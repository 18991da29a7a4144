// leaves: attempts to change our objects, and others in their place
for (const o of [codemode, svc, console, performance, crypto]) {
  for (const key of ['search', 'step', 'one', 'log', 'now', 'left']) {
    try { o[key] = () => 'mine'; } catch { /* read-only */ }
    try { Object.defineProperty(o, key, { value: () => 'mine' }); } catch { /* read-only */ }
  }
  try { Object.setPrototypeOf(o, { left: 1 }); } catch { /* fixed */ }
}
try { Object.defineProperty(globalThis, 'svc', { value: { one: () => 'mine' } }); } catch { /* read-only */ }
try { globalThis.codemode = null; } catch { /* read-only */ }
return typeof svc.one;
// ---- next run
// expect: ["one","function",["search","describe","step","run"],"number","undefined"]
return [await svc.one({}), typeof codemode.step, Object.keys(codemode), typeof performance.now(), typeof console.left];
