// what: join with a separator, in a proxy that has every element
// end: cpu_limit|memory_limit
return Array.prototype.join.call(new Proxy({ length: 2 ** 32 - 1 }, { get: (t, k) => (k === 'length' ? t.length : '') }), ',');
