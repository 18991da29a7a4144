// what: async generators left open
// end: memory_limit
const kept = [];
async function* g(i) { yield [i]; }
for (let i = 0;; i++) {
    const it = g(i);
    kept.push(it, it.next(), it.next());
}
