// tries: throwing what is no error: nothing, null, a function, a symbol, a bigint
// why: each is told as text
// expect: ["undefined","object","function","symbol","bigint"]
// call: step 0
// call: step failed null @ {"":"undefined"}
// call: step 1
// call: step failed null
// call: step 2
// call: step failed {"name":"Error","message":"step error is a function; give data instead"} @ {"":"error"}
// call: step 3
// call: step failed {"name":"Error","message":"step error is a symbol; give data instead"} @ {"":"error"}
// call: step 4
// call: step failed "5" @ {"":"bigint"}
const out = [];
let i = 0;
for (const v of [undefined, null, () => 1, Symbol('s'), 5n]) { await codemode.step(String(i++), () => { throw v; }).catch(() => {}); out.push(typeof v); }
return out;
