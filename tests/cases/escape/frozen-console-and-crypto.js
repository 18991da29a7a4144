// tries: replacing the methods of console, crypto and performance
// why: these objects are frozen; a new global of the same name is the program's own business
// expect: [["TypeError","TypeError","TypeError"],true]
// log: log still here
'use strict';
const say = (fn) => { try { fn(); return 'done'; } catch (e) { return e.name; } };
const all = [() => { console.log = () => {}; }, () => { crypto.randomUUID = () => 'x'; }, () => { performance.now = () => 0; }].map(say);
console.log('still here');
return [all, Object.isFrozen(console) && Object.isFrozen(crypto) && Object.isFrozen(performance)];
