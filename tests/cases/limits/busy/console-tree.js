// what: the same on the console
// end: cpu_limit|memory_limit
let tree = [1];
for (let i = 0; i < 40; i++)
    tree = [tree, tree];
for (;;)
    console.log(tree);
