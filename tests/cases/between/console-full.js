// leaves: a log at its limit
for (let i = 0; i < 3000; i++)
  console.log('line', i);
return 1;
// ---- next run
// expect: 2
// logs: here|and here
console.log('here');
console.log('and here');
return 2;
