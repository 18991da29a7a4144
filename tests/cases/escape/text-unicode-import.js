// tries: import() written with an escape
// why: a keyword has no escapes
// end: threw
// error: SyntaxError: Escape sequence in keyword import
// code: syntax
svc.first({});
return im\u0070ort('fs');
