// tries: log lines that look like others: levels, several lines in one, control characters
// why: a line is one frame with its level beside it; what it says is data
// expect: 1
// log: log [error] not an error
// log: warn a
// log: b
// log: info log c
console.log('[error] not an error');
console.warn('a\nb');
console.info('log c');
return 1;
