// tries: what every object inherits as methods of a connector
// why: such names are absent unless the host lists them, whatever the program has made of Object.prototype
// expect: ["undefined","undefined","undefined","undefined","undefined","function"]
for (const k of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) delete Object.prototype[k];
Object.prototype.extra = 1;
return [typeof svc.constructor, typeof svc.toString, typeof svc.__proto__, typeof svc.hasOwnProperty, typeof svc.then, typeof svc.extra];
