// tries: a special value under __proto__, so that its making sets a prototype
// why: it is defined as a member
// expect: [true,5,true]
// answer: json {"__proto__":5,"a":{"__proto__":"AQ=="}} @ {"/__proto__":"date","/a/__proto__":"bytes"}
// call: svc.json
const v = await svc.json();
return [Object.getPrototypeOf(v) === Object.prototype, Object.getOwnPropertyDescriptor(v, '__proto__').value.getTime(), Object.getPrototypeOf(v.a) === Object.prototype];
