// tries: what crosses by RegExp.prototype.exec, test and the symbols of matching
// why: the prelude matches nothing by expression
// expect: ["first",0]
// call: svc.first {"path/with~marks":1}
// log: log /x/g
let n = 0;
for (const k of ['exec', 'test', Symbol.match, Symbol.replace, Symbol.split, Symbol.search, Symbol.matchAll]) RegExp.prototype[k] = () => { n++; return null; };
console.log(/x/g);
return [await svc.first({ 'path/with~marks': 1 }), n];
