// why: the prelude holds the intrinsics it needs from before the program began, so a poisoned prototype sees none of its values
// expect: ["first",[]]
const seen = [];
const keys = ['id', 'resolve', 'reject', 'kind', 'connector', 'method', 'args', 'marks', 'json', 'value'];
for (const key of keys)
  Object.defineProperty(Object.prototype, key,
    { get() { seen[seen.length] = 'get ' + key; }, set() { seen[seen.length] = 'set ' + key; }, configurable: true });
Map.prototype.get = Map.prototype.set = () => { seen[seen.length] = 'map'; };
Array.prototype.push = () => { seen[seen.length] = 'push'; };
const answer = await svc.first({});
for (const key of keys)
  delete Object.prototype[key];
return [answer, seen];
