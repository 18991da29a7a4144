// tries: texts of the host's by RegExp.$1, RegExp.input and lastMatch
// why: the prelude matches nothing by expression: they hold the program's own last match
// expect: ["b","abc","b"]
// call: svc.first {"path/to":"x"}
// log: log NaN { a: 'b' }
/(b)/.exec('abc');
console.log('%d', /x/, { a: 'b' });
await svc.first({ 'path/to': 'x' });
await svc.take(() => 1).catch((e) => e.stack);
return [RegExp.$1, RegExp.input, RegExp.lastMatch];
