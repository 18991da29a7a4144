// leaves: getters and setters that every object inherits, under the names that language and prelude use
globalThis.caught = 0;
for (const key of ['then', 'toJSON', 'value', 'get', 'set', 'message', 'name', 'kind', 'json', 'marks', 'yes', 'no', 'failed', 'stack', 'length', 'next', 'done'])
  Object.defineProperty(Object.prototype, key, { __proto__: null, get() { caught++; }, set() { caught++; }, configurable: false });
await svc.one({});
return 1;
// ---- next run
// expect: [{"then":1,"toJSON":2,"value":3},"one","undefined"]
const o = {};
o.then = 1;
o.toJSON = 2;
o.value = 3;
const answer = await svc.one({ value: 1 });
return [o, answer, typeof ({}).message];
