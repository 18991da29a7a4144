// what: a loop in a timer
// end: cpu_limit
await new Promise(yes => setTimeout(() => {
    for (;;);
}, 1));
