// tries: 'use strict' and 'use asm' as prologue, and another one that is nothing
// why: a directive is the program's own; the wrapper has none
// expect: ["undefined",1]
'use strict'; 'use asm'; '})()';
return [typeof (function () { return this; })(), 1];
