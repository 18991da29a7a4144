// tries: a map that grows at each entry while it is read
// why: what is written of it is the run's own memory, which is limited
// end: memory_limit
const m = new Map(), kept = [];
let n = 0;
const grow = () => ({ toJSON() { m.set(n++, grow()); kept.push(new Uint8Array(1 << 20).fill(1)); return 'x'; } });
m.set(n++, grow());
return m;
