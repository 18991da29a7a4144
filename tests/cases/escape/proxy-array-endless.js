// tries: an array without end
// why: a value has a largest size
// end: threw|memory_limit|cpu_limit
// error: RangeError: result is larger than 64 MB
return new Proxy([], { get: (t, k) => (k === 'length' ? Infinity : k === 'toJSON' ? undefined : 1e300) });
