// what: fills memory with buffers
// ends: memory_limit|cpu_limit|wall_limit
// needs: memory
await svc.begin({ n: __N__ });
const kept = [];
for (;;)
    kept.push(new Uint8Array(1 << 20).fill(1));
