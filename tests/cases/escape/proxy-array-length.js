// tries: an array whose length counts how often it is asked, and answers with an object
// why: a length is read once and made a number
// expect: ["take",1,1]
// call: svc.take ["x","x"]
let asked = 0, made = 0;
const p = new Proxy([], { get(t, k) { if (k === 'length') { asked++; return { valueOf() { made++; return 2; } }; } return k === 'toJSON' ? undefined : 'x'; } });
return [await svc.take(p), asked, made];
