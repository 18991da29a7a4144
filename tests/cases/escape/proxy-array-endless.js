// tries: an array without end
// why: a length beyond the largest size of a value is refused before an element is read
// end: threw
// error: RangeError: result is larger than 64 MB
return new Proxy([], { get: (t, k) => (k === 'length' ? Infinity : k === 'toJSON' ? undefined : 1e300) });
