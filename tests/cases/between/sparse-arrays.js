// leaves: arrays with huge holes, huge lengths and elements of every kind
const a = [];
a[1e9] = 1;
a.length = 5;
const b = new Array(2000000);
b[7] = 'x';
globalThis.kept = [a, b, Object.assign([1, 2, 3], { '-1': 'mine', left: 1 })];
Object.defineProperty(a, 'length', { writable: false });
return a.length;
// ---- next run
// expect: ["undefined",3,5,0]
const a = [];
a[1e9] = 1;
a.length = 3;
a.length = 5;
return [typeof kept, [1, 2, 3].length, a.length, Object.keys(a).length];
