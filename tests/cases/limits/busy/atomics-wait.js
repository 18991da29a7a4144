// what: Atomics, which would sleep in the kernel, is absent
// end: cpu_limit
if (typeof Atomics !== 'undefined')
    return 'Atomics is there';
for (;;);
