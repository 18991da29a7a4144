// tries: reaching a timer's inside by its handle
// why: a handle is a number, and clearing takes nothing else
// expect: ["number",true,"none"]
// call: timer 5
const t = setTimeout(() => {}, 5);
let name = 'none';
try { clearTimeout({ valueOf() { throw new RangeError('asked'); }, toString() { throw new RangeError('asked'); } }); } catch (e) { name = e.name; }
clearTimeout(t);
return [typeof t, t.constructor.constructor('return this')() === globalThis, name];
