// leaves: well-known symbols on the prototypes that operators ask
Object.prototype[Symbol.toStringTag] = 'Mine';
Object.prototype[Symbol.isConcatSpreadable] = true;
Number.prototype[Symbol.toPrimitive] = Date.prototype[Symbol.toPrimitive] = () => 'mine';
Array.prototype[Symbol.unscopables].fresh = true;
Object.prototype[Symbol.asyncIterator] = async function* () { yield 'mine'; };
Symbol.prototype[Symbol.toPrimitive] = () => 'mine';
return String({});
// ---- next run
// expect: ["[object Object]",[1,{"a":1}],"number",[1,2]]
const seen = [];
for await (const x of [1, 2]) seen.push(x);
return [String({}), [1].concat({ a: 1 }), typeof +new Date(0), seen];
