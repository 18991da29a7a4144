// why: an enormous length costs memory or time, and both are limited
// end: memory_limit|cpu_limit|threw
return new Array(2 ** 32 - 1).fill('x').join('y').length;
