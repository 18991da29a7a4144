// leaves: species and iterators of its own, on which spread, destructuring and for-of rest
Object.defineProperty(Array, Symbol.species, { value: function () { return { length: 0, mine: true }; } });
const iterator = Object.getPrototypeOf([][Symbol.iterator]());
iterator.next = () => ({ done: true });
Array.prototype[Symbol.iterator] = function* () { yield 'mine'; };
String.prototype[Symbol.iterator] = function* () { yield 'mine'; };
Object.getPrototypeOf(new Map()[Symbol.iterator]()).next = iterator.next;
Object.getPrototypeOf(new Set()[Symbol.iterator]()).next = iterator.next;
return [...[1, 2]];
// ---- next run
// expect: [[1,2],[1,"b"],[2],["a","b"],[[1,2]],true]
const [first, second] = [1, 'b'];
return [[...[1, 2]], [first, second], [1].map((x) => x + 1), [...'ab'], [...new Map([[1, 2]])], [].concat([]) instanceof Array];
