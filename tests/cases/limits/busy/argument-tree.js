// what: the same as an argument
// end: cpu_limit|memory_limit|threw
let tree = [1];
for (let i = 0; i < 40; i++)
    tree = { a: tree, b: tree };
await svc.take(tree);
