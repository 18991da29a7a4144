// tries: hiding code by marks of direction, by spaces without width, by a byte order mark
// why: in strings and comments they are text; elsewhere the parser refuses them
// end: threw
// error: SyntaxError: Unexpected character
// code: syntax
svc.first({});
return 1​;
