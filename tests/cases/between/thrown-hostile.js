// leaves: a thrown object that runs code when it is described
// end: threw
const reenter = () => { globalThis.left = 1; Promise.resolve().then(() => console.log('late')); svc.late({}); return 'mine'; };
throw new Proxy({}, { get: reenter, has: reenter, getPrototypeOf() { reenter(); return Error.prototype; }, ownKeys() { reenter(); return []; } });
// ---- next run
// expect: ["undefined","Error: x"]
return [typeof left, String(new Error('x'))];
