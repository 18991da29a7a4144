// leaves: compiled code that has assumed types and then met others
const make = Function('return function hot(o, a, b) { return o.x + o.y * a[b & 3]; }');
const hot = make();
let sum = 0;
for (let i = 0; i < 30000; i++) sum += hot({ x: i, y: 2 }, [1, 2, 3, 4], i);
for (let i = 0; i < 300; i++) sum += String(hot({ y: 1.5, x: 'a' }, ['1', 2.5, null, {}], i)).length + Number(hot({ y: 1, get x() { return 1; } }, new Float64Array(4), i));
Object.defineProperty(Object.prototype, 'y', { get: () => 1000 });
Array.prototype[1] = 7;
return sum > 0;
// ---- next run
// expect: [450135000,"a3",null,2]
const make = Function('return function hot(o, a, b) { return o.x + o.y * a[b & 3]; }');
const hot = make();
let sum = 0;
for (let i = 0; i < 30000; i++) sum += hot({ x: i, y: 2 }, [1, 2, 3, 4], i);
return [sum, hot({ x: 'a', y: 1.5 }, [2], 0), hot({ x: 1 }, [1], 0), hot({ x: 1, y: 1 }, [0, 1], 1)];
