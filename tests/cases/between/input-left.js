// leaves: an input, changed
// input: {"secret":["left"]}
input.secret.push('more');
globalThis.kept = input;
return input;
// ---- next run
// expect: ["undefined","undefined",false]
return [typeof input, typeof kept, 'input' in globalThis];
