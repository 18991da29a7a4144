// tries: swallowing the wrapper's end by a regular expression
// why: one that does not end on its line is an error
// end: threw
// error: SyntaxError: Unterminated regular expression
// code: syntax
svc.first({});
/})[
