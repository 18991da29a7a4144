// tries: finding anything native that is not of the language, by walking everything reachable from the global object
// why: all functions that can be reached are of this realm, and none is the host's door
// expect: [true,[],true]
const seen = new Set(), foreign = [], queue = [globalThis];
while (queue.length) {
  const o = queue.pop();
  if ((typeof o !== 'object' && typeof o !== 'function') || o === null || seen.has(o)) continue;
  seen.add(o);
  let keys = [];
  try { keys = Reflect.ownKeys(o); queue.push(Object.getPrototypeOf(o)); } catch { continue; }
  for (const k of keys) {
    const d = Reflect.getOwnPropertyDescriptor(o, k);
    if (d) queue.push(d.value, d.get, d.set);
  }
  if (Object.prototype.toString.call(o) === '[object Send]' || (typeof o === 'function' && o.name === 'Send')) foreign.push('send');
}
return [seen.size > 500, foreign, !seen.has(undefined)];
