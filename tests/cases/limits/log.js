// what: the bytes of the console that are kept; a last line says that there was more
// limits: {"logBytes": 100}
// 99: completed without limits.logBytes
// 100: completed without limits.logBytes
// 101: completed with the limit is 100 bytes (limits.logBytes)
console.log('x'.repeat(input));
