// tries: replacing JSON.stringify and JSON.parse, then JSON itself
// why: both were taken before the program began
// expect: ["first",{"k":1},0]
// call: svc.first {"a":"\"x\""}
// call: svc.second {"b":[1]}
// answer: second {"k":1}
// log: log { c: 'd' }
let n = 0;
JSON.stringify = () => { n++; return '{"forged":1}'; };
JSON.parse = () => { n++; return 'forged'; };
const a = await svc.first({ a: '"x"' });
globalThis.JSON = null;
console.log({ c: 'd' });
return [a, await svc.second({ b: [1] }), n];
