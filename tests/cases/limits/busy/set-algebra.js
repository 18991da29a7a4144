// what: set operations with an other that never ends
// end: cpu_limit
return new Set([1]).union({ size: 1, has: () => true, keys: () => ({ next: () => ({ done: false, value: 1 }) }) });
