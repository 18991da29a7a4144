// Errors with causes and stacks, syntax errors, functions from text, proxies, symbols, dictionaries of many keys, console.
// expect: [true,"SyntaxError",true,"abc",20000,0]
class Own extends Error { constructor(m, o) { super(m, o); this.name = 'Own'; } }
let n = 0;
for (let i = 0; i < 5000; i++) { try { throw new Own('x' + i, { cause: new Error('c') }); } catch (e) { n += e.stack.length; } }
let syntax = '';
try { new Function('1+'); } catch (e) { syntax = e.name; }
let made = 0;
for (let i = 0; i < 500; i++) made += new Function('a', 'return a + ' + i)(1);
console.log('hello', { a: 1 });
console.error(new Own('logged'));
const many = {};
for (let i = 0; i < 20000; i++) many['k' + i] = i;
const size = Object.keys(many).length;
for (const k in many) delete many[k];
return [n > 0, syntax, made > 0, new Proxy({}, { get: (t, k) => k }).abc, size, Object.keys(many).length];
