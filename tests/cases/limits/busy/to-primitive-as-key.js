// what: Symbol.toPrimitive of a property's name
// end: cpu_limit
return {}[{ [Symbol.toPrimitive]() { for (;;); } }];
