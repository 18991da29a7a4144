// what: reverse of an object that only claims a length
// end: cpu_limit
return Array.prototype.reverse.call({ length: 2 ** 53 - 1 });
