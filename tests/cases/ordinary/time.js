// The clock, dates, randomness, sorting by it.
// expect: [true,true,10000]
let x = 0;
for (let i = 0; i < 1e5; i++) x += Math.random();
const numbers = Array.from({ length: 10000 }, Math.random).sort((a, b) => a - b);
return [x > 0, Date.now() === Date.now() && new Date().getFullYear() > 2000, numbers.length];
