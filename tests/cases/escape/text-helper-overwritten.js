// tries: to overwrite the parameter by which the wrapper notes what is thrown
// why: its name is one that the program does not have; a variable of that name within eval is the program's own, and notes nothing
// end: threw
// error: Error: text
eval('var $cm = { at() { return "mine"; } }');
throw 'text';
