// what: one message of the sandbox: a line of the console
// limits: {"frameBytes": 4096}
// 4086: completed
// 4087: completed
// 4088: frame_limit with limits.frameBytes
console.log('x'.repeat(input));
