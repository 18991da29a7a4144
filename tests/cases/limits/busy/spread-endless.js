// what: spread of an iterable without end
// end: cpu_limit|memory_limit
return [...{ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) }];
