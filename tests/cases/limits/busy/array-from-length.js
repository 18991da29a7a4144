// what: Array.from of a length
// end: cpu_limit|memory_limit
return Array.from({ length: 1e9 }, () => 0).length;
