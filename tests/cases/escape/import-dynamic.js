// tries: import() in plain sight
// why: there are no modules; the program is refused whole, with its first call unsent
// end: threw
// error: SyntaxError: import('fs') is not possible: there is no such module. Connectors are globals and need no
// code: no_modules
await svc.first({});
return import('fs');
