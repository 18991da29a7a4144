// tries: a proxy as argument, that counts the traps
// why: it is read once: its prototype, toJSON, its names, and each member
// expect: ["take",["getPrototypeOf","get toJSON","ownKeys","getOwnPropertyDescriptor a","getOwnPropertyDescriptor b","get a","get b"]]
// call: svc.take {"a":1,"b":2}
const traps = [];
const p = new Proxy({ a: 1, b: 2 }, new Proxy({}, { get: (_, trap) => (target, ...rest) => {
  traps.push(trap + (typeof rest[0] === 'string' ? ' ' + rest[0] : ''));
  return Reflect[trap](target, ...rest);
} }));
return [await svc.take(p), traps];
