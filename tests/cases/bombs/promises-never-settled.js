// what: promises without end
// end: memory_limit
const kept = [];
for (;;)
    kept.push(new Promise(() => {}));
