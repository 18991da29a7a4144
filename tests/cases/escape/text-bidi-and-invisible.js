// tries: hiding code by marks of direction, by spaces without width, by a byte order mark
// why: in strings and comments they are text; elsewhere a character without width is read as none, which a warning says
// expect: 1
// call: svc.first {}
// warning: typographic quotes and invisible characters were read as plain ones
// warning: svc.first (line 7) finished after the program had ended
svc.first({});
return 1​;
