// tries: deciding what is a promise, a date or an error by Symbol.hasInstance
// why: dates, maps and errors are told by what they are; the program's own promise is awaited either way
// expect: ["first",{"d":5,"e":{"name":"Error","message":"x"}}] @ {"/1/d":"date","/1/e":"error"}
// call: svc.first {"d":5} @ {"/d":"date"}
for (const C of [Promise, Date, Error, Map, Set, RegExp, Array]) Object.defineProperty(C, Symbol.hasInstance, { configurable: true, value: () => true });
const a = await svc.first({ d: new Date(5) });
for (const C of [Promise, Error]) Object.defineProperty(C, Symbol.hasInstance, { value: () => false });
return [a, { d: new Date(5), e: new Error('x') }];
