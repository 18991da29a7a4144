// what: includes visits holes too
// end: cpu_limit
return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);
