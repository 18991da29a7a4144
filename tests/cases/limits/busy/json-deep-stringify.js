// what: writing a deep nesting
// end: cpu_limit|memory_limit
let deep = 1;
for (let i = 0; i < 100000; i++)
    deep = [deep];
for (;;) {
    try {
        JSON.stringify(deep);
    } catch {}
}
