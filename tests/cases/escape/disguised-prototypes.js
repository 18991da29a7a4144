// tries: passing for another kind of value by a changed prototype
// why: a kind is what the engine made; without its prototype it is still that, and a plain object with one is not
// expect: "take"
// call: svc.take {"a":5,"b":{},"c":{"x":1},"d":{}} @ {"/a":"date"}
const a = Object.setPrototypeOf(new Date(5), {}), b = Object.create(Date.prototype), c = Object.setPrototypeOf({ x: 1 }, Error.prototype);
b.toJSON = () => ({});
return await svc.take({ a, b, c, d: Object.setPrototypeOf(new Map([[1, 2]]), null) });
