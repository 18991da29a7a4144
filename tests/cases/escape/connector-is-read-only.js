// tries: changing a connector by every operation that changes an object
// why: each is refused by the proxy's own traps, and nothing has changed
// expect: [["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"],"first"]
// call: svc.first {}
'use strict';
const say = (fn) => { try { fn(); return 'done'; } catch (e) { return e.name; } };
const all = [() => { svc.first = () => 1; }, () => { delete svc.first; }, () => Object.defineProperty(svc, 'first', { value: 1 }),
  () => Object.setPrototypeOf(svc, { first: 1 }), () => Object.preventExtensions(svc), () => Object.freeze(svc), () => { svc.__proto__ = null; }];
return [all.map(say), await svc.first({})];
