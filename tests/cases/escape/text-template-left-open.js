// tries: swallowing the wrapper's end by a template
// why: a template that does not end is an error of the text
// end: threw
// error: SyntaxError: Unterminated template
// code: syntax
svc.first({});
`})
