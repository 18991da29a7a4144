// tries: then, catch, finally and toJSON by symbol, by number and by a text made at run time
// why: these names never give a function; other keys give methods and symbols nothing
// expect: ["undefined","undefined","undefined","undefined","undefined","undefined","function"]
return [...['th' + 'en', 'catch', 'finally', 'toJSON'].map((k) => typeof svc[k]), typeof svc[Symbol.asyncIterator], typeof svc[Symbol.toPrimitive], typeof svc[7]];
