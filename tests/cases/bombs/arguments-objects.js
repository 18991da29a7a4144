// what: arguments objects of calls with many arguments
// end: memory_limit
const kept = [], many = new Array(5000).fill(1);
function f() { return arguments; }
for (;;)
    kept.push(f(...many));
