// tries: calling, constructing, iterating and comparing a connector
// why: it is an object without any of that
// expect: ["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError",false,"{}"]
const say = (fn) => { try { fn(); return 'done'; } catch (e) { return e.name; } };
return [say(() => svc()), say(() => new svc()), say(() => [...svc]), say(() => svc + ''), say(() => ({}) instanceof svc), say(() => { class X extends svc {} }),
  svc instanceof Object, JSON.stringify(svc)];
