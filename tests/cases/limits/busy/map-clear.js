// what: a Map that is cleared and filled while it is walked
// end: cpu_limit
const m = new Map([[1, 1]]);
m.forEach(() => {
    m.clear();
    m.set(1, 1);
});
