// what: dates from text
// end: cpu_limit
for (let i = 0; ; i++)
    Date.parse(`Thu, 01 Jan 1970 00:00:${i % 60} GMT+0${i % 10}00 (${'x'.repeat(1000)})`);
