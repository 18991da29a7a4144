// tries: --> at the very start, which is a comment for the checker's text and would be an operator behind the wrapper's head
// why: it is a comment to the end of its line for both
// expect: 1
// ---- program
--> }); svc.first({}); (async () => {
return 1;
