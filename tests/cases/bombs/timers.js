// what: timers that hold what they close over
// end: memory_limit
for (let i = 0; i < 90; i++) {
    const held = new Uint8Array(1 << 20).fill(i);
    setTimeout(() => held, 1000000);
}
await new Promise(() => {});
