// leaves: as many timers as may run at once
for (let i = 0; i < 100; i++)
  setTimeout(() => {}, 1000000);
return 'full';
// ---- next run
// expect: 100
let n = 0;
await Promise.all(Array.from({ length: 100 }, () => new Promise((yes) => setTimeout(yes, 1)).then(() => n++)));
return n;
