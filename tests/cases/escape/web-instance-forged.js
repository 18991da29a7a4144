// tries: having the program's own code answer for the sandbox, by a class of the web that tells anything is its instance
// why: it only changes what is said of the program's own objects; where it throws, they are objects like any other
// expect: "end"
// call: svc.first {"p":{"x":1}}
// log: log P { x: 1 }
class P { x = 1; }
console.log(new Headers({ a: 'b' }).get('a') === 'b' ? new P() : 0);
Object.defineProperty(Headers, Symbol.hasInstance, { value() { throw new Error('mine'); } });
await svc.first({ p: new P() });
return 'end';
