// tries: predicting or steering what the prelude computes by Math
// why: the generator has its own Math.imul; the numbers are a function of the seed
// expect: [true,true,36]
const a = [Math.random(), crypto.randomUUID()];
Math.imul = Math.floor = () => 0;
Number.prototype.toString = () => 'x';
globalThis.Uint8Array = undefined;
return [Math.random() !== a[0], crypto.randomUUID() !== a[1], crypto.randomUUID().length];
