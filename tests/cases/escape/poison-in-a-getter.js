// tries: poisoning while the codec is at work
// why: as before: what it uses is fixed
// expect: "first"
// call: svc.first {"a":1,"b":[2],"c":5} @ {"/c":"date"}
const d = new Date(5);
return await svc.first({ get a() { JSON.stringify = Object.keys = Reflect.apply = Date.prototype.getTime = Array.isArray = () => { throw new Error('poison'); }; return 1; }, b: [2], c: d });
