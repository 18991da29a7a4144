// what: Promise.all over itself
// end: memory_limit
const never = new Promise(() => {}), kept = [];
for (;;)
    kept.push(Promise.all(new Array(100).fill(never)), Promise.race([never, never]));
