// tries: a parameter behind the rest, which the parser of the normaliser takes for an argument and the engine does not take
// why: it is refused before anything runs, with its place
// end: threw
// error: SyntaxError: A parameter with ... takes all that is left, so it is the last one
// code: syntax
await svc.get({});
return (async (...rest, last = 1) => last)();
