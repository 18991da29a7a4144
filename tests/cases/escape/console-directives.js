// tries: running code and going astray by directives of a log line
// why: a directive takes one value; a number is made of what has one
// expect: "next"
// log: log 5 %s
// log: log NaN {"valueOf":[function valueOf]} [object Object]
// log: log a %
console.log('%d %s', 5);
try { console.log('%d %s', { valueOf() { throw new Error('v'); } }, String({})); } catch (e) { console.log(e.message); }
console.log('a %');
return 'next';
