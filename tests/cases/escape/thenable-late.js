// tries: settling after the end was told
// why: the first end stands
// expect: "first"
// call: timer 0
return { then(yes) { setTimeout(() => yes('first'), 0); queueMicrotask(() => queueMicrotask(() => {})); } };
