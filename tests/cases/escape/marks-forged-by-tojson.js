// tries: a toJSON that gives a special value, a stand-in of one, or another object with a toJSON
// why: what it gives is encoded like any value, with marks where they belong; it is not asked again
// expect: "take"
// call: svc.take {"a":5,"b":null,"c":{}} @ {"/a":"date"}
class T { toJSON() { return new Date(5); } }
return await svc.take({ a: new T(), b: { toJSON: () => null }, c: { toJSON: () => ({ toJSON2: undefined, get x() { return undefined; } }) && ({}) } });
