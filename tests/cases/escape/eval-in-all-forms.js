// tries: code from text by every door: eval, indirect eval, the four function constructors, a string as timer
// why: they all give code of the same realm under the same limits; a text is no timer's function
// expect: [true,true,true,true,true,true,"TypeError"]
const AsyncFunction = (async () => {}).constructor, GeneratorFunction = (function* () {}).constructor, AsyncGeneratorFunction = (async function* () {}).constructor;
const got = [eval('globalThis'), (0, eval)('this'), Function('return this')(), await AsyncFunction('return this')(),
  GeneratorFunction('yield this')().next().value, (await AsyncGeneratorFunction('yield this')().next()).value].map((g) => g === globalThis);
try { setTimeout('globalThis.x = 1', 1); } catch (e) { got.push(e.name); }
return got;
