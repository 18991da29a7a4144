// tries: running code and going astray by directives of a log line
// why: a directive takes one value; a number is made of what has one
// expect: "next"
// log: log 5 %s
// log: log NaN NaN NaN done
// log: log a %
console.log('%d %s', 5);
console.log('%d %i %f', { valueOf() { throw new Error('v'); } }, Symbol('s'), Object.assign(() => 1, { valueOf() { throw 1; } }), 'done');
console.log('a %');
return 'next';
