// tries: changing the iterators of host arrays to run code in the host's loops
// why: the host has no loops in the program's realm; the iterator is the program's own
// expect: [0,"take"]
// call: svc.list
// call: svc.take [1,2,3]
// answer: list [1,2,3]
const list = await svc.list();
let n = 0;
list[Symbol.iterator] = function* () { n++; };
return [n, await svc.take(list)];
