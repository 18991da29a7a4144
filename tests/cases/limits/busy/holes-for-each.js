// what: forEach over an object that only claims a length
// end: cpu_limit
return Array.prototype.forEach.call({ length: 2 ** 53 - 1 }, () => {});
