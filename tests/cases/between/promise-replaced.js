// leaves: another then, catch, finally, resolve and species of promises
Promise.prototype.then = function () { return 'mine'; };
Promise.prototype.catch = Promise.prototype.finally = () => 'mine';
Promise.resolve = Promise.all = Promise.race = () => 'mine';
Object.defineProperty(Promise, Symbol.species, { value: Array });
Object.defineProperty(Promise.prototype, 'constructor', { value: Array });
return 1;
// ---- next run
// expect: [1,[1,"two"],3,"caught",true]
const p = Promise.resolve(1);
return [await p.then((v) => v), await Promise.all([1, svc.two({})]), await Promise.race([3]), await Promise.reject(1).catch(() => 'caught'),
  p.constructor === Promise];
