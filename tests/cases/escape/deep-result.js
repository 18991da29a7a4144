// tries: exhausting the stack of whoever walks a result
// why: values are measured before they are walked: a result nested too deep is an error and no crash of either side
// end: threw
// error: TypeError: nested deeper than 500 levels
let a = [];
for (let i = 0; i < 200000; i++) a = [a];
return a;
