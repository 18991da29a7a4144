// what: the text of an array of a thousand million holes
// end: cpu_limit|memory_limit
return new Array(1e9) + '';
