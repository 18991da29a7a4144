// tries: a map that grows at each entry while it is read
// why: what is written of it is the run's own memory, which is limited
// end: memory_limit
const m = new Map();
let n = 0;
const grow = () => ({ toJSON() { m.set(n++, grow()); return 'x'.repeat(100000); } });
m.set(n++, grow());
return m;
