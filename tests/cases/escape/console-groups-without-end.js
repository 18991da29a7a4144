// tries: a line that is made long by two hundred thousand groups around it
// why: what stands before a line grows to forty characters and no further
// expect: "ok"
// log: log                                         x
for (let i = 0; i < 200000; i++) console.group();
console.log('x');
return 'ok';
