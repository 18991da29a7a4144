// what: JSON of a small graph that is a large tree
// end: cpu_limit|memory_limit
let tree = [1];
for (let i = 0; i < 40; i++)
    tree = [tree, tree];
return JSON.stringify(tree);
