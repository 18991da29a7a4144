// leaves: objects whose then is called by whoever awaits them
// end: threw
const late = { then(yes) { globalThis.left = 1; Promise.resolve().then(() => { globalThis.left = 2; console.log('late'); }); } };
Object.defineProperty(Object.prototype, 'then', { value(yes) { globalThis.left = 3; }, configurable: true, writable: true });
Promise.resolve(late);
throw new Error('after a thenable');
// ---- next run
// expect: ["undefined",{"a":1},"undefined"]
return [typeof left, await { a: 1 }, typeof ({}).then];
