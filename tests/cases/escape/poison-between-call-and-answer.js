// tries: poisoning after the call went out and before its answer came
// why: the answer is read by what was taken before the program began
// expect: [{"a":[1,2],"d":5},0] @ {"/0/d":"date"}
// call: svc.object
// answer: object {"a":[1,2],"d":5} @ {"/d":"date"}
let n = 0;
const p = svc.object();
JSON.parse = Array.prototype.push = Object.keys = Reflect.apply = String.prototype.indexOf = String.prototype.slice = () => { n++; };
Object.defineProperty(Object.prototype, 'value', { configurable: true, set() { n++; }, get() { n++; } });
const v = await p;
delete Object.prototype.value;
return [v, n];
