// tries: swallowing the wrapper's end by a comment of several lines
// why: a comment that does not end is an error of the text
// end: threw
// error: SyntaxError: The comment that begins here is not closed: end it with */
// code: syntax
svc.first({});
/* })
