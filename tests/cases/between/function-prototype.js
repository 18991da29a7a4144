// leaves: another call, apply and bind of every function
for (const name of ['call', 'apply', 'bind', 'toString'])
  Function.prototype[name] = function () { return 'mine'; };
Function.prototype.left = 1;
return (() => 1).call();
// ---- next run
// expect: [1,3,2,true,"undefined","(x) => x"]
return [(() => 1).call(), Math.max.apply(null, [1, 3]), ((x) => x).bind(null, 2)(), [] instanceof Array, typeof (() => 1).left, ((x) => x).toString()];
