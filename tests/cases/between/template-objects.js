// leaves: the strings of a tagged template, which the engine keeps for each place in the text
const make = Function('return (tag) => tag`left ${1} over`');
const strings = make()((s) => s);
globalThis.kept = new WeakMap([[strings, 'mine']]);
Object.getPrototypeOf(strings).left = 'mine';
return [make()((s) => s) === strings, strings.left];
// ---- next run
// expect: [true,true,"undefined",["left "," over"]]
const make = Function('return (tag) => tag`left ${1} over`');
const strings = make()((s) => s);
return [Object.getPrototypeOf(strings) === Array.prototype, Object.getPrototypeOf(strings.raw) === Array.prototype, typeof strings.left, strings];
