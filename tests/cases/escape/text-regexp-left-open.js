// tries: swallowing the wrapper's end by a regular expression
// why: one that does not end on its line is an error
// end: threw
// error: SyntaxError: The regular expression that begins here is not closed: end it with /
// code: syntax
svc.first({});
/})[
