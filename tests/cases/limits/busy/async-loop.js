// what: an await in a loop
// end: cpu_limit
for (;;)
    await null;
