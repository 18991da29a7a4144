// tries: swallowing the wrapper's end by a string
// why: a string ends on its line
// end: threw
// error: SyntaxError: The string that begins here is not closed on its line: close it, or use a template (`…`) f
// code: syntax
svc.first({}); '})
