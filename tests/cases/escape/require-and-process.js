// tries: the globals of other runtimes
// why: none exists, and the error says what does
// end: threw
// error: ReferenceError: process is not defined. This sandbox has no files, no processes and no environment.
return process.env;
