// tries: using up memory by a trace of every frame at every call
// why: a trace costs the program's own time and memory; the call goes on
// expect: ["first",true]
// call: svc.first {}
Error.stackTraceLimit = 1e9;
const deep = (n) => (n === 0 ? svc.first({}) : deep(n - 1));
return [await deep(2000), true];
