// tries: reaching the codec's functions by caller, from a getter that it runs
// why: the prelude is strict code, which caller and arguments never show
// expect: [[],1]
// call: svc.take {"x":1}
// call: svc.take {"y":2}
const found = [];
function look() {
  for (let f = look, i = 0; f && i < 20; i++) {
    try { f = f.caller; } catch { f = null; }
    if (f && !/^(function look|async|\(?async|get |toJSON|\(\)|function \w*\(\) \{ look)/.test(String(f))) found.push(String(f).slice(0, 60));
  }
}
const sloppy = Function('look', 'return { get x() { look(); return 1; } }')(look);
await svc.take(sloppy);
await svc.take({ toJSON: Function('look', 'return function () { look(); return { y: 2 }; }')(look) });
return [found, 1];
