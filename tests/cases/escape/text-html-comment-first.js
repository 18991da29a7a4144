// tries: --> at the very start, which is a comment for the checker's text and would be an operator behind the wrapper's head
// why: the text is then refused by the engine, whole; nothing of it has run
// end: threw
// error: SyntaxError: Unexpected token
// ---- program
--> }); svc.first({}); (async () => {
return 1;
