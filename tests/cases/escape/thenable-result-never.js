// tries: a result that never comes
// why: nothing is outstanding that could settle it; that is an error, not a wait
// end: threw
// error: Error: The program waits for a promise that nothing will settle
// code: never_settles
return { then() {} };
