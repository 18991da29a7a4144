// tries: filling the host's memory with log lines
// why: lines beyond the limit are dropped where they arrive, and the time to make them is the program's
// end: cpu_limit
// logs: any
for (;;) console.log('x'.repeat(1000));
