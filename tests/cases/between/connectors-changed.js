// leaves: a connector that the next run does not have
// connector: old
globalThis.kept = old.secret;
old.hang({}).then(() => { globalThis.left = 1; });
return [typeof old.secret, await old.secret({})];
// ---- next run
// expect: ["undefined","undefined",["search","describe","step","run"],false]
return [typeof old, typeof kept, Object.keys(codemode), Object.getOwnPropertyNames(globalThis).includes('old')];
