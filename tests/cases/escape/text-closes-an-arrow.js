// tries: the same out of a text that is one arrow function
// why: as before
// end: threw
// error: SyntaxError: Unexpected ')': nothing is open that it would close; leave it out
// code: syntax
async () => { return 1; })(), svc.first({}), (() => {}
