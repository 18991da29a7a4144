// tries: yield and new.target, which belong to other functions than the wrapper
// why: yield is a name there, and new.target is refused before anything runs
// end: threw
// error: SyntaxError: 'new.target' can only be used in functions
// code: syntax
svc.first({});
return new.target;
