// leaves: another exec and other symbols of regular expressions, and a lastIndex in a literal
RegExp.prototype.exec = () => ['mine'];
RegExp.prototype.test = () => true;
for (const s of [Symbol.match, Symbol.matchAll, Symbol.replace, Symbol.search, Symbol.split])
  RegExp.prototype[s] = () => 'mine';
Object.defineProperty(RegExp.prototype, 'flags', { get: () => 'mine' });
const sticky = Function('return /a/g')();
sticky.lastIndex = 7;
return 'a'.replace(/a/, 'b');
// ---- next run
// expect: [false,"b",["a"],["a","b"],0,"g",1]
const literal = Function('return /a/g')();
return [/a/.test('b'), 'a'.replace(/a/, 'b'), 'a'.match(literal), 'a,b'.split(/,/), literal.lastIndex, literal.flags, 'ba'.search(/a/)];
