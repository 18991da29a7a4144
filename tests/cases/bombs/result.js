// what: a result that is too large to encode
// end: memory_limit|frame_limit
// why: the encoded value may meet the limit on a frame first
const part = Array.from({ length: 1000 }, (_, i) => ({ i, text: 'row ' + i }));
return new Array(1000).fill(part);
