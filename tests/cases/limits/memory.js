// what: memory, in megabytes
// limits: {"memoryMb": 32}
// 1: completed
// 20: completed
// 70: memory_limit with needed more than its 32 MB of memory (limits.memoryMb)
const kept = [];
for (let i = 0; i < input; i++)
    kept.push(new Uint8Array(1 << 20).fill(i));
return kept.length;
