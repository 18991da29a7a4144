// what: lines without end
// end: cpu_limit|memory_limit
for (let i = 0; ; i++)
    console.log('line', i);
