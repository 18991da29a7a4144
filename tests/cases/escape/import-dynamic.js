// tries: import() in plain sight
// why: there are no modules; the program is refused whole, with its first call unsent
// end: threw
// error: SyntaxError: import() is not possible
// code: no_modules
await svc.first({});
return import('fs');
