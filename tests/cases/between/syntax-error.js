// leaves: a text that does not parse
// end: threw
return `unclosed ${ ;
// ---- next run
// expect: [1,"a1b"]
return [1, `a${1}b`];
