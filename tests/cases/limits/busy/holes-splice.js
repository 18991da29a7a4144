// what: splice moves what is not there
// end: cpu_limit
return Array.prototype.unshift.call({ length: 2 ** 53 - 2 }, 1);
