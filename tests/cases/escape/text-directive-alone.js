// tries: a program that is one directive
// why: it is the last expression, so the text is the result
// expect: "use strict"
'use strict'
