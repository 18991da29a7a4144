// tries: the same where a rejection is told that nothing awaited
// why: as there
// expect: 1
// warning: nothing awaited it: Error: later
delete Map.prototype.size;
delete RegExp.prototype.toString;
delete Function.prototype.toString;
delete Symbol.prototype.toString;
globalThis.WeakMap = undefined;
Promise.reject(new Error('later'));
return 1;
