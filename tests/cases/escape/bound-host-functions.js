// tries: another connector or method by binding, applying and reflecting a host function
// why: connector and method stand in its closure; this and new.target change nothing
// expect: ["first","first","first","first","TypeError"]
// call: svc.first {"a":1}
// call: svc.first {"a":2}
// call: svc.first {"a":3}
// call: svc.first {"a":4}
const f = svc.first, evil = { name: 'codemode', connector: 'admin', method: 'drop' };
let made;
try { Reflect.construct(f, [{}]); } catch (e) { made = e.name; }
return [await f.call(evil, { a: 1 }), await f.apply(evil, [{ a: 2 }]), await f.bind(evil)({ a: 3 }), await Reflect.apply(f, evil, [{ a: 4 }]), made];
