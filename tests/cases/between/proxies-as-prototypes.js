// leaves: proxies, one of them revoked, as prototypes of what the language is made of
const { proxy, revoke } = Proxy.revocable({}, {});
const trap = new Proxy({}, { get: (t, k) => (typeof k === 'string' ? 'mine' : undefined), has: () => true });
for (const p of [Function.prototype, Array.prototype, String.prototype, Promise.prototype, Map.prototype, Error.prototype])
  Object.setPrototypeOf(p, trap);
Object.setPrototypeOf(RegExp.prototype, proxy);
revoke();
return [].left;
// ---- next run
// expect: ["undefined","undefined","undefined","undefined","undefined"]
return [typeof [].left, typeof (() => 1).left, typeof ''.left, typeof /x/.left, typeof new Error('x').left];
