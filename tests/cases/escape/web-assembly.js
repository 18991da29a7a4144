// tries: machine code of its own by WebAssembly
// why: it is switched off in the engine, and there is no other way to it
// expect: ["undefined","undefined",true]
return [typeof WebAssembly, typeof globalThis['Web' + 'Assembly'], !Reflect.ownKeys(globalThis).includes('WebAssembly')];
