// tries: overwriting codemode and its functions
// why: the global cannot be written, configured or deleted; its functions are frozen
// expect: [false,false,false,true,true,true,"hi"]
// answer: search "hi"
// call: search "q"
const had = codemode, d = Object.getOwnPropertyDescriptor(globalThis, 'codemode');
globalThis.codemode = { search: () => 'mine' };
let define = true;
try { Object.defineProperty(globalThis, 'codemode', { value: 1 }); } catch { define = false; }
return [d.writable, d.configurable, define, codemode === had, !Reflect.deleteProperty(globalThis, 'codemode'), Object.isFrozen(codemode.search), await codemode.search('q')];
