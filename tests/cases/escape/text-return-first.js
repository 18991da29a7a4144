// tries: ending before what a reader sees as the program
// why: it is the program's own end: nothing behind it runs, and nothing is called
// expect: "early"
return 'early';
await svc.first({});
