// tries: seeing or changing the host's answers by what every object inherits
// why: the prelude's own objects inherit nothing, and it holds the intrinsics from before the program began
// expect: ["first",[]]
// call: svc.first {}
const seen = [];
const keys = ['id', 'resolve', 'reject', 'kind', 'connector', 'method', 'args', 'marks', 'json', 'value', 'yes', 'no', 'run', 'stack',
  'line', 'column', 'n', 'at', 'up', 'key', 'size', 'root', 'failed', 'outcome', 'name', 'message', 'code'];
for (const key of keys)
  Object.defineProperty(Object.prototype, key,
    { get() { seen[seen.length] = 'get ' + key; }, set() { seen[seen.length] = 'set ' + key; }, configurable: true });
Map.prototype.get = Map.prototype.set = () => { seen[seen.length] = 'map'; };
Array.prototype.push = () => { seen[seen.length] = 'push'; };
const answer = await svc.first({});
for (const key of keys)
  delete Object.prototype[key];
return [answer, seen];
