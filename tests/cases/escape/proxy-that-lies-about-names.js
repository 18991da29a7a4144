// tries: names that are not there, doubled names, names that are symbols
// why: the language checks ownKeys; a name without a descriptor is left out
// expect: ["TypeError","take"]
// call: svc.take {"a":1}
const twice = new Proxy({}, { ownKeys: () => ['a', 'a'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) });
const ghost = new Proxy({ a: 1 }, { ownKeys: () => ['a', 'ghost', Symbol('s')] });
return [await svc.take(twice).catch((e) => e.name), await svc.take(ghost)];
