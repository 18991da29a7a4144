// what: one buffer larger than the limit
// end: memory_limit
return new Uint8Array(512 << 20).length;
