// why: a connector is no promise; to await it calls nothing
// expect: "object"
const s = await svc;
return typeof s === 'function' ? 'object' : typeof s;
