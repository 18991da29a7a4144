// tries: another place for a call, by a function that is called like one
// why: the engine puts the place behind an @ at the end of its line; the rest is a name
// expect: ["first",true]
// call: svc.first
const f = { async ['program.js:77:77']() { return await svc.first(); } }['program.js:77:77'];
return [await f(), true];
