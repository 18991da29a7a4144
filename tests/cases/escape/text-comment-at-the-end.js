// tries: swallowing the wrapper's end by a comment without end, of one line
// why: the end stands on a line of its own
// expect: 3
// call: svc.first
await svc.first();
3 // })
