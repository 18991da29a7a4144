// tries: arguments.callee and the arguments of the functions that call it
// why: strict code has neither; what a program sees of arguments are its own
// expect: ["null or error","null or error",true]
// call: timer 0
// call: svc.take {"v":1}
const peek = Function('out', 'return function peek() { let c; try { c = arguments.callee.caller; } catch { c = null; } let a; try { a = peek.caller === null ? null : peek.caller.arguments; } catch { a = null; } out.push(c, a); return 1; }');
const a = [], b = [];
await new Promise((yes) => setTimeout(() => { peek(a)(); yes(); }, 0));
await svc.take(Object.defineProperty({}, 'v', { enumerable: true, get: peek(b) }));
const bare = (list) => (list.every((x) => x === null || (typeof x === 'function' && /peek/.test(String(x)))) ? 'null or error' : list.map(String));
return [bare(a), bare(b), a.length === 2];
