// tries: an enormous length
// why: it costs memory or time, and both are limited
// end: memory_limit|cpu_limit
return new Array(2 ** 32 - 1).fill('x').join('y').length;
