// tries: poisoning as the last act, when the result is about to be taken
// why: as before
// expect: {"a":[1,{"b":"\"c\""}],"m":[[1,2]]} @ {"/m":"map"}
const result = { a: [1, { b: '"c"' }], m: new Map([[1, 2]]) };
JSON.stringify = () => 'forged';
Object.keys = Reflect.ownKeys = () => ['forged'];
Array.isArray = Error.isError = () => true;
Object.getPrototypeOf = Reflect.getPrototypeOf = () => null;
Map.prototype.forEach = () => {};
return result;
