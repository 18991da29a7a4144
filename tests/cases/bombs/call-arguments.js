// what: arguments of calls, encoded one after the other
// end: memory_limit
const kept = [];
for (let i = 0;; i++) {
    const args = { i, text: String(i).repeat(50000), list: new Array(2000).fill(i) };
    kept.push(args, await svc.keep(args));
}
