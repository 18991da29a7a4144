// leaves: values that every object inherits
Object.prototype.left = 1;
Object.prototype.enumerable = Object.prototype.writable = true;
Object.prototype[0] = 'zero';
Object.prototype[Symbol.toPrimitive] = () => 'mine';
return ({}).left;
// ---- next run
// expect: ["undefined","undefined","[object Object]",[],false]
const inherited = [];
for (const key in {}) inherited.push(key);
return [typeof ({}).left, typeof ({})[0], '' + {}, inherited, Object.getOwnPropertyDescriptor(Object.defineProperty({}, 'a', { value: 1 }), 'a').enumerable];
