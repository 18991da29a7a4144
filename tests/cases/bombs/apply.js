// what: calls with very many arguments
// end: memory_limit
const kept = [], many = new Array(30000).fill(1.5);
for (let i = 0;; i++)
    kept.push(Array.of.apply(null, many), Math.max.apply(null, many), String.fromCharCode.apply(null, many));
