// tries: making the language call a connector, by await, by Promise.resolve and as the result of a then
// why: a connector is no promise: it has no then, so nothing is called
// expect: [true,true,true,"undefined"]
const same = Object.is(await svc, svc);
return [same, Object.is(await Promise.resolve(svc), svc), Object.is(await Promise.resolve().then(() => svc), svc), typeof svc.then];
