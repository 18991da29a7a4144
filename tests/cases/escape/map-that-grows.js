// tries: a map that grows at each entry while it is read
// why: a value has a largest size, and before it the run its memory
// end: threw|memory_limit|cpu_limit
// error: RangeError: result is larger than 64 MB
const m = new Map();
let n = 0;
const grow = () => ({ toJSON() { m.set(n++, grow()); return 'x'.repeat(100000); } });
m.set(n++, grow());
return m;
