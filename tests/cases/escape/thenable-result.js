// tries: a result that is a thenable, which settles twice
// why: the program's own return awaits it, by the language's rules: the first value counts
// expect: 1
return { then(yes, no) { yes(1); yes(2); no(new Error('late')); } };
