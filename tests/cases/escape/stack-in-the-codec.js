// tries: using up the stack so that the codec ends in the middle, at every depth
// why: what it throws then is an error of the program; a call was sent whole or not at all
// expect: [true,true,"first"]
// calls: any
const seen = new Set(), calls = [];
function dive(n) {
  try { dive(n + 1); } catch (e) { seen.add(e.name); }
  if (calls.length < 40) calls.push(svc.first({ a: [{ b: new Map([[1, new Date(5)]]) }] }).then((v) => v, (e) => e.name));
}
dive(0);
const got = new Set(await Promise.all(calls));
got.delete('first');
got.delete('RangeError');
return [got.size === 0, [...seen].every((n) => n === 'RangeError'), await svc.first()];
