// what: join of an object that only claims a length
// end: cpu_limit|memory_limit
return Array.prototype.join.call({ length: 2 ** 32 - 1 });
