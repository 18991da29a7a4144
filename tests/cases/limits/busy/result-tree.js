// what: a result that is a small graph and a large tree
// end: cpu_limit|memory_limit|threw
let tree = [1];
for (let i = 0; i < 40; i++)
    tree = [tree, tree];
return tree;
