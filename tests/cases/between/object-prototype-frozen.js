// leaves: frozen intrinsics, which forbid to override what they have
for (const o of [Object, Array, Function, Error, Promise, String, RegExp, Map, Date, Symbol])
  Object.freeze(o.prototype) && Object.freeze(o);
return Object.isFrozen(Object.prototype);
// ---- next run
// expect: ["mine","Mine",1,false]
class Mine extends Error { constructor() { super('x'); this.name = 'Mine'; } }
const o = {};
o.toString = () => 'mine';
Array.prototype.fresh = 1;
return [String(o), new Mine().name, [].fresh, Object.isFrozen(Object.prototype)];
