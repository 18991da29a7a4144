// tries: receiving call frames, with their functions, by the hooks of another engine
// why: this engine has no such hook; the names mean nothing
// expect: ["first",0,"TypeError"]
// call: svc.first {}
let n = 0;
Error.prepareStackTrace = (e, frames) => { n++; return frames; };
if (Error.captureStackTrace) Error.captureStackTrace = () => { n++; };
const a = await svc.first({}), e = await svc.take(1, 2).catch((x) => x);
void e.stack;
return [a, n, e.name];
