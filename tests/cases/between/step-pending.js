// leaves: a step that runs and never ends, and one that was not begun
codemode.step('left', () => new Promise(() => {}));
codemode.step('hang', () => { globalThis.left = 1; });
codemode.step('throws', () => { throw new Error('left'); }).catch(() => {});
await svc.one({});
return 1;
// ---- next run
// expect: [7,"undefined","function"]
return [await codemode.step('left', () => 7), typeof left, typeof codemode.step];
