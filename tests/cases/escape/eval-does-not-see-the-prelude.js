// tries: naming the prelude's own variables from code made of text
// why: a function made of text has the global scope alone, and the prelude left nothing there
// expect: ["undefined","undefined","undefined","undefined","undefined","undefined"]
return ['send', 'control', 'state', 'pending', 'encode', 'primordials'].map((name) => Function('return typeof ' + name)());
