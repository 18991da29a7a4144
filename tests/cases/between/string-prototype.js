// leaves: other methods of strings
for (const name of Object.getOwnPropertyNames(String.prototype)) {
  if (typeof String.prototype[name] === 'function')
    String.prototype[name] = () => 'mine';
}
String.raw = String.fromCharCode = () => 'mine';
String.prototype.toJSON = () => 'mine';
return 'a'.trim();
// ---- next run
// expect: ["a","b",["a","b"],"A","a1b","x","a"]
return [' a '.trim(), 'abc'.slice(1, 2), 'a,b'.split(','), 'a'.toUpperCase(), String.raw`a${1}b`, String.fromCharCode(120), 'a'];
