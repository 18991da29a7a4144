// what: copyWithin of an object that only claims a length
// end: cpu_limit
return Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 5);
