// leaves: other functions on Array, and an object that says it is an array
Array.isArray = () => true;
Array.from = Array.of = () => 'mine';
Array.prototype.constructor = function () { return 'mine'; };
Array.prototype[Symbol.isConcatSpreadable] = false;
Object.setPrototypeOf(Array.prototype, new Proxy({}, { get: () => 'mine', has: () => true }));
return [].anything;
// ---- next run
// expect: [false,[1],[1],[1,2],"undefined",true]
return [Array.isArray({}), Array.from([1]), Array.of(1), [1].concat([2]), typeof [].anything, Array.prototype.constructor === Array];
