// tries: changing what every object inherits, for those who come later
// why: every run has a realm of its own; what one changes is gone with it
// expect: 1
Object.prototype.polluted = 1;
Array.prototype.map = () => 'mine';
Promise.prototype.then = () => 'mine';
JSON.parse = JSON.stringify = () => 'mine';
globalThis.leak = 1;
globalThis.console.log = () => 'mine';
return 1;
// ---- next run
// tries: finding what the run before left
// why: as above
// expect: [true,"undefined",[2],"[1]",[]]
// log: log seen
console.log('seen');
return [({}).polluted === undefined, typeof leak, [1].map((x) => x + 1), JSON.stringify([1]), Object.keys(Object.prototype)];
