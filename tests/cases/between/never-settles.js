// leaves: a program that waits for what can never come
// end: threw
globalThis.left = 1;
const p = new Promise((yes) => { globalThis.settle = yes; });
p.then(() => console.log('late'));
await p;
// ---- next run
// expect: ["undefined","undefined"]
return [typeof left, typeof settle];
