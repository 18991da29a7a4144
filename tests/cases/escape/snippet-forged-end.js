// tries: ending a snippet by a promise that lies, and giving it a value of another realm's making
// why: what its function gives is awaited with our own Promise and recorded before the program sees it; the program gets the record
// expect: [{"n":1},true]
// snippet: slow ["const a = await svc.wait({}); return { n: 1, a: undefined }"]
// call: run slow ["slow"]
// call: svc.wait {}
// call: step ended {"n":1,"a":null} @ {"/a":"undefined"}
const asked = codemode.run('slow');
Object.defineProperty(Object.prototype, 'then', { get() { return undefined; }, set() { throw new Error('seen'); }, configurable: true });
const r = await asked;
delete r.a;
return [r, Object.getPrototypeOf(r) === Object.prototype];
