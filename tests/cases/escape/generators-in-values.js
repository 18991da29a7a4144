// tries: generators and iterators as arguments and results
// why: they are instances of classes, without data of their own; nothing is drawn from them
// expect: ["take",0]
// call: svc.take {"g":{},"i":{}}
let n = 0;
function* g() { n++; yield 1; }
return [await svc.take({ g: g(), i: [1][Symbol.iterator]() }), n];
