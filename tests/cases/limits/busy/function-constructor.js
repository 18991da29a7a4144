// what: ever new functions from text
// end: cpu_limit|memory_limit
for (let i = 0; ; i++)
    new Function('return ' + i)();
