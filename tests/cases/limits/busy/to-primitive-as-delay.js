// what: Symbol.toPrimitive of a timer's delay
// end: cpu_limit
setTimeout(() => {}, { [Symbol.toPrimitive]() { for (;;); } });
