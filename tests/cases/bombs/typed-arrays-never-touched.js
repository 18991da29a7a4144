// what: typed arrays whose pages nobody writes: the limit counts what is asked for
// end: memory_limit
const kept = [];
for (;;)
    kept.push(new Uint8Array(1 << 20));
