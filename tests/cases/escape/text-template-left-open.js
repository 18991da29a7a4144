// tries: swallowing the wrapper's end by a template
// why: a template that does not end is an error of the text
// end: threw
// error: SyntaxError: The template that begins here (`) is not closed
// code: syntax
svc.first({});
`})
