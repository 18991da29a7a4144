// tries: line breaks written as \n, which are read as blanks, to close the wrapper
// why: blanks take the place of two characters each, and then the text is parsed whole like any other
// end: threw
// error: SyntaxError: A line break stands here as the two characters
// code: syntax
// ---- program
return 1;\n })(); globalThis.out = 1;\n (async () => {\n
