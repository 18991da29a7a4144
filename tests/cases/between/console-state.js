// leaves: an indented console with counters and clocks, and another console in its place
console.group('a');
console.group('b');
console.count();
console.count('left');
console.time('left');
globalThis.console = { log: () => 'mine' };
return 1;
// ---- next run
// expect: "object"
// logs: default: 1|left: 1|left: no such timer; console.time("left") starts one|plain
console.count();
console.count('left');
console.timeEnd('left');
console.log('plain');
return typeof console;
