// tries: an array of four thousand million holes as an argument
// why: a length beyond the largest size of a value is refused before an element is read
// expect: ["RangeError","RangeError"]
const a = [];
a.length = 2 ** 32 - 1;
const b = new Proxy([], { get: (t, k) => (k === 'length' ? 2 ** 53 : undefined) });
return [await svc.take(a).catch((e) => e.name), await svc.take(b).catch((e) => e.name)];
