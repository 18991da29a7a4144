// tries: what crosses by the methods of strings, and by their iterator
// why: the prelude calls the ones that it took, and no others
// expect: ["first","a/b~c",0]
// call: svc.first {"a/b~c":5} @ {"/a~1b~0c":"date"}
// log: info 10% of { x: 1 }
// log: log a | b
// log: log … 
let n = 0;
const info = '%d%% of %o', key = 'a/b~c';
for (const k of Object.getOwnPropertyNames(String.prototype)) if (typeof String.prototype[k] === 'function' && k !== 'constructor') String.prototype[k] = () => { n++; return ''; };
String.prototype[Symbol.iterator] = () => { n++; return { next: () => ({ done: true }) }; };
console.info(info, 10, { x: 1 });
console.log('a | b');
console.log('… ');
const a = await svc.first({ [key]: new Date(5) });
return [a, key, n];
