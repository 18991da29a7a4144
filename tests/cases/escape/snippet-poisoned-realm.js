// tries: changing what a saved program's name, input, text and value are, by intrinsics that lie
// why: what is sent, read and evaluated goes through primordials that were captured before the program ran
// expect: [{"n":5},"plain","undefined"]
// snippet: plain ["return { n: input.n }", {"n": 5}]
// call: run plain ["plain",{"n":5}]
// call: step ended {"n":5}
const { run } = codemode;
JSON.parse = JSON.stringify = () => 'forged';
Array.prototype[Symbol.iterator] = function* () { yield 'forged'; };
String.prototype.slice = String.prototype.indexOf = () => 'forged';
Object.keys = Object.hasOwn = Reflect.apply = () => 'forged';
globalThis.Error = globalThis.TypeError = function () { throw 1; };
globalThis.Function = globalThis.eval = () => 'forged';
const r = await run('plain', { n: 5 });
return [r, 'plain', typeof made];
