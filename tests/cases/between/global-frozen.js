// leaves: a global object that can be neither extended nor changed
Object.freeze(globalThis);
Object.preventExtensions(globalThis);
return Object.isFrozen(globalThis);
// ---- next run
// expect: [1,2,true]
globalThis.fresh = 1;
JSON.fresh = 2;
return [fresh, JSON.fresh, Object.isExtensible(globalThis)];
