// tries: swallowing the wrapper's end by a comment of several lines
// why: a comment that does not end is an error of the text
// end: threw
// error: SyntaxError: Unterminated comment
// code: syntax
svc.first({});
/* })
