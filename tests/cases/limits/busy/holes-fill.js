// what: fill of an object that only claims a length
// end: cpu_limit|memory_limit
return Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0);
