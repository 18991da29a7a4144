// tries: caller and arguments of the host's functions themselves
// why: they are arrows of strict code: without own members, and the inherited ones throw
// expect: [["length","name"],"TypeError","TypeError","undefined","TypeError"]
const f = svc.first, say = (fn) => { try { return String(fn()); } catch (e) { return e.name; } };
return [Reflect.ownKeys(f).sort(), say(() => f.caller), say(() => f.arguments), typeof f.prototype, say(() => new f())];
