// tries: the SDK's inside by every kind of reflection
// why: the proxy tells the names and the functions of it, which are frozen, and nothing of its target
// expect: [["search","describe","step","run"],["function",false,true],null,true,["search","describe","step","run"],false]
const d = Reflect.getOwnPropertyDescriptor(codemode, 'search');
return [Reflect.ownKeys(codemode), [typeof d.value, d.writable, Object.isFrozen(d.value)], Reflect.getPrototypeOf(codemode), Reflect.isExtensible(codemode),
  Object.entries(codemode).map(([k]) => k), 'made' in codemode || 'methods' in codemode || 'own' in codemode];
