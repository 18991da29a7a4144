// tries: jumping out of the wrapper by labels, break and continue
// why: a jump has its target in the same function, or the text is an error
// end: threw
// error: SyntaxError: Unsyntactic break
// code: syntax
svc.first({});
break;
