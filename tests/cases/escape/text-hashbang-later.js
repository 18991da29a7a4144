// tries: the same in a later line
// why: there it is no comment but an error
// end: threw
// error: SyntaxError: Unexpected character
// code: syntax
return 1;
#!/usr/bin/env node
