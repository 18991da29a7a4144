// what: a proxy that claims a long array
// end: cpu_limit|memory_limit|threw
return new Proxy([], { get: (t, k) => (k === 'length' ? 2 ** 32 - 1 : 1) });
