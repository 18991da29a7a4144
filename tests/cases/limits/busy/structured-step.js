// what: a loop in a step
// end: cpu_limit
await codemode.step('s', () => {
    for (;;);
});
