// why: names that every object inherits are no methods of a connector, and its prototype leads to nothing of the host
// expect: [true,true]
const proto = Object.getPrototypeOf(svc);
return [proto === null || proto === Object.prototype || proto === Function.prototype,
  Object.getOwnPropertyNames(svc).every((n) => typeof n === 'string')];
