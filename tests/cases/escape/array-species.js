// tries: receiving a copy of arrays that cross by Symbol.species
// why: arrays are read by index and copied by no method
// expect: ["first",0]
// call: svc.first [1,[2]]
let n = 0;
Object.defineProperty(Array, Symbol.species, { get() { n++; return Object; } });
class Mine extends Array { static get [Symbol.species]() { n++; return Object; } }
const a = await svc.first(Mine.of(1, Mine.of(2)));
return [a, n];
