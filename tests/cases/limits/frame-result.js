// what: one message of the sandbox: a result
// limits: {"frameBytes": 4096, "resultBytes": 100}
// 4079: completed
// 4080: completed
// 4081: frame_limit with was larger than 4096 bytes (limits.frameBytes)
return 'x'.repeat(input);
