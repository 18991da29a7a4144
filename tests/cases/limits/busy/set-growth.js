// what: a Set that grows while it is walked, by forEach
// end: cpu_limit|memory_limit
const s = new Set([0]);
s.forEach(x => {
    s.delete(x);
    s.add(x + 1);
});
