// tries: a report that cannot be read, by numbers in a stack of its own
// why: a place is decimal digits in range, or none
// end: threw
// error: Error: forged
const e = new Error('forged');
e.stack = 'f@program.js:Infinity:1e9\ng@program.js:0x10:-1\nh@program.js:99999999999999999999:5\n@program.js:NaN:NaN\n"}:program.js:1';
throw e;
