// tries: using up time by a place far behind the end of the program
// why: what stands in no line is shown as an empty one
// end: threw
// error: Error: far
const e = new Error('far');
e.stack = 'f@program.js:4294967295:4294967295';
throw e;
