// tries: a first line for another interpreter, that holds the wrapper's end
// why: it is blanked like a comment
// expect: 1
// ---- program
#!/usr/bin/env node })(); svc.first({});
return 1;
