// what: one message of the sandbox: arguments
// limits: {"frameBytes": 4096}
// 4049: completed
// 4050: completed
// 4051: frame_limit with limits.frameBytes
await svc.ok({ a: 'x'.repeat(input) });
