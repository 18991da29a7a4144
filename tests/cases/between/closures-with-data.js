// leaves: what an answer brought, kept in a closure that a later answer would call
const secret = 'sec' + 'ret';
const closures = Array.from({ length: 100 }, (_, i) => () => secret + i);
globalThis.closures = closures;
svc.hang({ secret }).then((v) => closures.push(() => v));
return closures[7]();
// ---- next run
// expect: ["undefined","undefined",["one"]]
const hits = [];
for (const key of Reflect.ownKeys(globalThis)) {
  if (/sec|closure/.test(String(key))) hits.push(key);
}
return [typeof closures, typeof secret, [await svc.one({}), ...hits]];
