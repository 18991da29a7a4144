// what: the bytes of one call's arguments, here {"a":"…"}
// limits: {"argBytes": 100}
// 91: completed
// 92: completed
// 93: arguments_limit with svc.ok: the arguments have 101 bytes, a call may have 100 (limits.argBytes). Send less with each call
await svc.ok({ a: 'x'.repeat(input) });
