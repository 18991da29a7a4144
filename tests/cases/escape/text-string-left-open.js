// tries: swallowing the wrapper's end by a string
// why: a string ends on its line
// end: threw
// error: SyntaxError: Unterminated string constant
// code: syntax
svc.first({}); '})
