// leaves: other methods of arrays
for (const name of Object.getOwnPropertyNames(Array.prototype)) {
  if (typeof Array.prototype[name] === 'function' && name !== 'constructor')
    Array.prototype[name] = () => 'mine';
}
return [1].map();
// ---- next run
// expect: [[2],"1-2",[1,2,3],[3,2,1],3]
const a = [1];
a.push(2);
return [[1].map((x) => x + 1), a.join('-'), [3, 1, 2].sort(), [1, 2, 3].reverse(), [...a, 3].length];
