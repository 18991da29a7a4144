// tries: answering for the stack of the prelude's errors by Error.prototype.stack, with traces switched off
// why: it reads own members only; without a trace a call has no place
// expect: ["first",0]
// call: svc.first {}
let n = 0;
Error.stackTraceLimit = 'none';
Object.defineProperty(Error.prototype, 'stack', { configurable: true, get() { n++; return 'program.js:7:7'; }, set() { n++; } });
return [await svc.first({}), n];
