// what: generators left open
// end: memory_limit
const kept = [];
function* g(i) { const local = [i]; yield local; yield i; }
for (let i = 0;; i++) {
    const it = g(i);
    it.next();
    kept.push(it);
}
