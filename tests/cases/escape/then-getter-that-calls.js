// tries: calls of its own while the prelude settles a call, by a getter on Object.prototype named then
// why: an answer is settled with what the engine keeps for itself, and no member of it is asked for before the program gets it
// expect: ["get",true]
// call: svc.get {}
// calls: any
let asked = 0;
Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { asked++; return undefined; } });
const v = await svc.get({});
delete Object.prototype.then;
return [v, asked >= 0];
