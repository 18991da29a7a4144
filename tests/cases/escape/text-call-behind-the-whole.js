// tries: a call behind the function that is taken off, with something in it
// why: only empty brackets at the very end are taken for that call
// end: threw
// error: SyntaxError: Unexpected '('
// code: syntax
// ---- program
async () => { return 1 }(svc.get({}))
