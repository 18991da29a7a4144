// tries: closing the bracket that is put around the last expression
// why: an expression ends where the parser says; a bracket too many is an error
// end: threw
// error: SyntaxError: Unexpected ')': nothing is open that it would close; leave it out
// code: syntax
1), svc.first({}), (2
