// what: the bytes of the program
// limits: {"sourceBytes": 2000}
// 1999: completed
// 2000: completed
// 2001: source_limit with the program has 2001 bytes, 2000 are allowed (limits.sourceBytes). Keep data out of the program
return 1;
