// what: a loop inside a Promise executor
// end: cpu_limit
await new Promise(() => {
    for (;;);
});
