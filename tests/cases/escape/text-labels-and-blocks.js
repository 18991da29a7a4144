// tries: jumping out of the wrapper by labels, break and continue
// why: a jump has its target in the same function, or the text is an error
// end: threw
// error: SyntaxError: break stands only in a loop or a switch; return ends the program
// code: syntax
svc.first({});
break;
