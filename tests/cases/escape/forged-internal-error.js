// tries: passing for a failure of the sandbox itself
// why: the sandbox's own failures end the worker; this one is a program's error, and the worker goes on
// end: threw
// error: InternalError: the prelude: TypeError
// code: internal
throw Object.assign(new Error('the prelude: TypeError: undefined'), { name: 'InternalError', code: 'internal' });
// ---- next run
// tries: the worker after that
// why: as above
// expect: 1
return 1;
