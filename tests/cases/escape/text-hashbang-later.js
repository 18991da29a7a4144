// tries: the same in a later line
// why: there it is no comment but an error
// end: threw
// error: SyntaxError: # begins no comment in JavaScript: use //. A heading or other text stands outside of the p
// code: syntax
return 1;
#!/usr/bin/env node
