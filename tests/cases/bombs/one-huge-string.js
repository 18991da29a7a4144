// what: one string larger than the limit
// end: memory_limit
return 'ab'.repeat(400 << 20).toUpperCase().length;
