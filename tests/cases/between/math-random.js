// leaves: a generator of random numbers that has been used, and then replaced
for (let i = 0; i < 100000; i++) Math.random();
crypto.randomUUID();
await svc.one({});
Math.random();
Math.random = () => 0.5;
Math.max = Math.floor = Math.imul = () => 'mine';
return Math.random();
// ---- next run
// expect: [true,true,2,1,1]
const first = Math.random();
return [first !== 0.5, first === Math.random(), Math.max(1, 2), Math.floor(1.5), Math.imul(1, 1)].map((v, i) => (i === 1 ? !v : v));
