// leaves: global variables of every kind, one that cannot be deleted among them
globalThis.left = 1;
Function('leftByFunction = 2')();
(0, eval)('var leftByVar = 3; function leftByDeclaration() {}');
Object.defineProperty(globalThis, 'leftForEver', { value: 4, configurable: false });
globalThis[Symbol.for('left')] = 5;
return [left, leftByFunction, leftByVar, typeof leftByDeclaration, leftForEver];
// ---- next run
// expect: ["undefined","undefined","undefined","undefined","undefined",false]
return [typeof left, typeof leftByFunction, typeof leftByVar, typeof leftByDeclaration, typeof leftForEver, Symbol.for('left') in globalThis];
