// tries: closing the function that a program is put into, to run before it
// why: the text is parsed whole, as the body of one function, before it is put anywhere: an unbalanced brace is an error
// end: threw
// error: SyntaxError: Unexpected '}': nothing is open that it would close; leave it out
// code: syntax
svc.first({}); }); svc.second({}); (async () => {
