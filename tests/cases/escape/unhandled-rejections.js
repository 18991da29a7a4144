// tries: hiding a failure, and filling the report with others
// why: each is a warning; the first twenty are kept, and the result stands
// expect: "done"
// warning: nothing awaited it: Error: 0
// warning: nothing awaited it: Error: 1
// warning: nothing awaited it: Error: 2
// warning: nothing awaited it: Error: 3
// warning: nothing awaited it: Error: 4
// warning: nothing awaited it: Error: 5
// warning: nothing awaited it: Error: 6
// warning: nothing awaited it: Error: 7
// warning: nothing awaited it: Error: 8
// warning: nothing awaited it: Error: 9
// warning: nothing awaited it: Error: 10
// warning: nothing awaited it: Error: 11
// warning: nothing awaited it: Error: 12
// warning: nothing awaited it: Error: 13
// warning: nothing awaited it: Error: 14
// warning: nothing awaited it: Error: 15
// warning: nothing awaited it: Error: 16
// warning: nothing awaited it: Error: 17
// warning: nothing awaited it: Error: 18
// warning: nothing awaited it: Error: 19
for (let i = 0; i < 1000; i++) Promise.reject(new Error(String(i)));
return 'done';
